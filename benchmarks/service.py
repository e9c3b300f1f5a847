"""How much the service carries, each number beside what a bare FastAPI endpoint, or a bare download, does.

usage: python -m benchmarks.service [--quick]     (exit status 1 if a bound is missed or could not be measured)
"""

import http.client
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from urllib.parse import urlsplit

from benchmarks.check import Bounds
from benchmarks.processes import Load, hub_with, resident, server, wrk
from examples.check import examples
from tests.service.processes import free_port

QUICK = "--quick" in sys.argv
ROUNDS, SECONDS = (3, 1.0) if QUICK else (15, 2.0)
UNSEEN = 200 if QUICK else 2000
REQUESTS = 20_000 if QUICK else 200_000

NAME = "deepseek-ai/DeepSeek-R1-0528"
REPORT = f"/v1/models/{NAME}?tp=8"
PAGE = f"/models/{NAME}?tp=8"


def main() -> int:
    """Prints each number and whether its bound held."""
    bounds = Bounds()
    if shutil.which("wrk") is None:
        bounds.not_measured("load", "wrk is not installed")
        return 1
    config = next(json.loads((one.folder / "config.json").read_bytes()) for one in examples() if one.name == NAME)
    names = [f"org/model-{number}" for number in range(UNSEEN)]
    configs = {NAME: config, **dict.fromkeys(names, config)}
    with tempfile.TemporaryDirectory() as folder, hub_with(configs) as hub:
        with started(Path(folder), hub) as (url, process):
            _load(bounds, url, Path(folder))
            _memory(bounds, url, process)
        _unseen(bounds, names, hub, Path(folder))
    return 1 if bounds.missed else 0


@contextmanager
def started(folder: Path, hub: str) -> Iterator[tuple[str, "Popen[bytes]"]]:
    """The service with one worker in front of that Hub, without a limit for one client."""
    port = free_port()
    given = {"FSE_PORT": str(port), "FSE_STORE": f"sqlite:///{folder}/fse-{port}.sqlite3", "FSE_RATE": "0"}
    variables = {**os.environ, **given, "HF_ENDPOINT": hub, "HF_HOME": str(folder / "home"), "NO_PROXY": "127.0.0.1"}
    url = f"http://127.0.0.1:{port}"
    with server(["-m", "service"], f"{url}/livez", variables) as process:
        yield url, process


def _load(bounds: Bounds, url: str, folder: Path) -> None:
    with urllib.request.urlopen(url + REPORT) as answer:
        body, tag = answer.read(), answer.headers["ETag"]
    (folder / "body").write_bytes(body)
    port = free_port()
    command = ["-m", "uvicorn", "--factory", "benchmarks.bare:create_app", "--port", str(port), "--no-access-log"]
    bare_url = f"http://127.0.0.1:{port}/bare"
    with server(command, bare_url, {**os.environ, "BARE_BODY": str(folder / "body")}):
        runs: dict[str, Callable[[], Load]] = {
            "bare": lambda: wrk(bare_url, SECONDS),
            "report": lambda: wrk(url + REPORT, SECONDS),
            "304": lambda: wrk(url + REPORT, SECONDS, f"If-None-Match: {tag}"),
            "page": lambda: wrk(url + PAGE, SECONDS),
        }
        for run in runs.values():
            run()
        # In turns, and compared turn by turn: what else the machine does meets all of them about alike.
        turns = [{name: run() for name, run in runs.items()} for _ in range(ROUNDS)]
    for name in runs:
        rate = statistics.median(turn[name].rate for turn in turns)
        p99 = statistics.median(turn[name].p99 for turn in turns) * 1000
        print(f"{name}: {rate:,.0f} requests a second, p99 {p99:.1f} ms ({len(body):,} bytes)")
    for name, what, bound in (("report", "cached reports", 0.5), ("304", "304s", 0.7), ("page", "model pages", 0.15)):
        ratio = statistics.median(turn[name].rate / turn["bare"].rate for turn in turns)
        _part(bounds, f"{what}, of the bare endpoint's rate", ratio, bound)
    tail = statistics.median(turn["report"].p99 / turn["bare"].p99 for turn in turns)
    bounds.holds(f"cached reports' p99: {tail:.1f} times the bare endpoint's (bound: under 5)", tail < 5)


def _memory(bounds: Bounds, url: str, process: "Popen[bytes]") -> None:
    wrk(url + REPORT, SECONDS)
    before, count = resident(process), 0
    while count < REQUESTS:
        count += wrk(url + REPORT, 10).count
    after = resident(process)
    bounds.holds(f"memory: {before:.0f} MiB, after {count:,} requests {after:.0f} MiB", after < before * 1.05 + 2)


def _unseen(bounds: Bounds, names: list[str], hub: str, folder: Path) -> None:
    """Each model once, with the files that a check needs, by both."""
    os.environ |= {"HF_ENDPOINT": hub, "HF_HUB_DISABLE_TELEMETRY": "1", "NO_PROXY": "127.0.0.1"}
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    def bare() -> None:
        cache = folder / "bare"
        for name in names:
            hf_hub_download(name, "config.json", cache_dir=cache, token=False)
            try:
                hf_hub_download(name, "hf_quant_config.json", cache_dir=cache, token=False)
            except EntryNotFoundError:
                continue
        shutil.rmtree(cache)

    started_at = time.perf_counter()
    bare()
    rate = len(names) / (time.perf_counter() - started_at)
    with started(folder, hub) as (url, _):
        started_at = time.perf_counter()
        with ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(lambda name: _status(url, f"/v1/models/{name}?tp=8"), names))
        ours = len(names) / (time.perf_counter() - started_at)
    if set(statuses) != {200}:
        bounds.not_measured("models never seen before", f"answers were {sorted(set(statuses))}")
        return
    print(f"never seen before: {ours:.0f} models a second, a bare hf_hub_download loop {rate:.0f}")
    _part(bounds, f"{len(names):,} models never seen before, of the bare loop's rate", ours / rate, 0.5)


def _part(bounds: Bounds, what: str, ratio: float, bound: float) -> None:
    bounds.holds(f"{what}: {ratio:.2f} (bound: at least {bound:g})", ratio >= bound)


def _status(url: str, path: str) -> int:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
