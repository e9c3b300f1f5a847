"""Processes that a benchmark of the service needs: servers, the Hub server with its models, and wrk."""

import json
import multiprocessing
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.hub_server import HubServer


@dataclass(frozen=True, kw_only=True)
class Load:
    """What wrk measured: requests a second, and the 99th percentile of the time to answer in seconds."""

    rate: float
    p99: float
    count: int


@contextmanager
def server(command: list[str], url: str, variables: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A server that answers at `url`, until the end."""
    process = subprocess.Popen(
        [sys.executable, *command], env=dict(variables), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait(process, url)
        yield process
    finally:
        process.terminate()
        process.wait(30)


def _wait(process: subprocess.Popen[bytes], url: str) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"nothing answers at {url}")


@contextmanager
def hub_with(models: Mapping[str, Any]) -> Iterator[str]:
    """The URL of a Hub server in a process of its own, which has these configs."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_hub, args=(dict(models), theirs), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join(10)


def _hub(models: dict[str, Any], pipe: Connection) -> None:
    with HubServer() as hub:
        for name, config in models.items():
            hub.add(name, {"config.json": json.dumps(config).encode()})
        pipe.send(hub.url)
        while True:
            time.sleep(1)
            hub.requests.clear()


def wrk(url: str, seconds: float, *headers: str, connections: int = 32) -> Load:
    """Load from one thread of wrk. Every answer has to be a 2xx or 3xx."""
    asked = [part for header in headers for part in ("-H", header)]
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:g}s", "--latency", *asked, url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        raise RuntimeError(f"{url} failed under load:\n{text}")
    rate, count = re.search(r"Requests/sec:\s+([\d.]+)", text), re.search(r"(\d+) requests in", text)
    p99 = re.search(r"99%\s+([\d.]+)(us|ms|s)", text)
    if not (rate and count and p99):
        raise RuntimeError(f"wrk said what is not understood:\n{text}")
    unit = {"us": 1e-6, "ms": 1e-3, "s": 1.0}[p99[2]]
    return Load(rate=float(rate[1]), p99=float(p99[1]) * unit, count=int(count[1]))


def resident(process: subprocess.Popen[bytes]) -> float:
    """The process's memory in MiB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())
    if found is None:
        raise RuntimeError("the process is gone")
    return int(found[1]) / 1024
