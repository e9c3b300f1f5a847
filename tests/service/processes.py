"""The service as a process of its own, as `make serve` starts it."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.hub_server import HubServer
from tests.hub_server.fixtures import environment
from tests.service.clients import ROOT

STOPPED = (0, -signal.SIGTERM)
"""How a service ends that was told to stop: uvicorn closes everything and then lets the signal do its work."""


@dataclass(kw_only=True)
class Running:
    """A started service, its address, and the file that its log goes to."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def stop(self, number: int = signal.SIGTERM, seconds: float = 20) -> int:
        """Sends the signal and waits for the end."""
        self.process.send_signal(number)
        return self.process.wait(seconds)


@contextmanager
def service(folder: Path, hub: HubServer | None = None, **variables: str) -> Iterator[Running]:
    """Started and answering; killed at the end, with its workers, if it has not stopped by itself."""
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    given = {"FSE_PORT": str(port), "FSE_STORE": f"sqlite:///{folder}/fse.sqlite3", "FSE_RATE": "0", **variables}
    inherited = {
        name: value for name, value in os.environ.items() if not name.upper().startswith(("HF_", "HTTP", "FSE_"))
    }
    hub_variables = {} if hub is None else environment(hub, folder / "hf-home")
    log = folder / f"log-{port}"
    with log.open("wb") as told:
        process = subprocess.Popen(
            [sys.executable, "-m", "service"],
            cwd=ROOT,
            env={**inherited, **hub_variables, **given},
            stdout=told,
            stderr=told,
            start_new_session=True,
        )
    running = Running(process=process, url=f"http://127.0.0.1:{port}", log=log)
    try:
        wait_for(running)
        yield running
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(running: Running, path: str = "/livez", seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if running.process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(running.url + path, timeout=5):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"the service did not start: {running.log.read_text()[-2000:]}")
