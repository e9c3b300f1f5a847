"""How much the service carries, each number beside what a bare FastAPI endpoint, or a bare download loop, does.

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
from contextlib import contextmanager, suppress
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
CALLERS = (1, 8)
"""How many ask at once for models never seen before; the bare loop is then run by as many."""
TURNS = 5
REQUESTS = 20_000 if QUICK else 200_000

NAME = "deepseek-ai/DeepSeek-R1-0528"
REPORT = f"/v1/models/{NAME}?tp=8"
PAGE = f"/models/{NAME}?tp=8"


def main() -> int:
    """Prints each number and whether its bound held."""
    bounds = Bounds()
    os.environ["NO_PROXY"] = "127.0.0.1"
    config = next(json.loads((one.folder / "config.json").read_bytes()) for one in examples() if one.name == NAME)
    names = [f"org/model-{number}" for number in range(UNSEEN)]
    configs = {NAME: config, **{name: {**config, "_name_or_path": name} for name in names}}
    with tempfile.TemporaryDirectory() as folder, hub_with(configs) as hub:
        if shutil.which("wrk") is None:
            bounds.not_measured("load and memory", "wrk is not installed")
        else:
            with started(Path(folder), hub) as (url, process):
                _load(bounds, url, Path(folder))
                _memory(bounds, url, process)
        _unseen(bounds, names, hub, Path(folder))
    print(json.dumps({"missed": bounds.missed}))
    return 1 if bounds.missed else 0


@contextmanager
def started(folder: Path, hub: str) -> Iterator[tuple[str, "Popen[bytes]"]]:
    """The service with one worker in front of that Hub, without a limit for one client."""
    port = free_port()
    given = {"FSE_PORT": str(port), "FSE_STORE": f"sqlite:///{folder}/fse-{port}.sqlite3", "FSE_RATE": "0"}
    variables = {**os.environ, **given, "HF_ENDPOINT": hub, "HF_HOME": str(folder / "home")}
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
    """Each model once, by the service and by a bare loop in turns, as many at once, the caches of both empty."""
    size = -(-len(names) // TURNS)
    parts = [names[start : start + size] for start in range(0, len(names), size)]
    for callers in CALLERS:
        own = folder / f"unseen-{callers}"
        own.mkdir()
        with started(own, hub) as (url, _), ThreadPoolExecutor(callers) as pool:
            runs = {"service": _asking(url), "loop": _downloading(hub, own / "cache")}
            for run in runs.values():
                run(NAME)  # what a process loads once is not counted
            seconds = dict.fromkeys(runs, 0.0)
            for part in parts:
                for who, run in runs.items():
                    begun = time.perf_counter()
                    list(pool.map(run, part))
                    seconds[who] += time.perf_counter() - begun
        service, loop = (len(names) / seconds[who] for who in ("service", "loop"))
        print(f"never seen before, {callers} at once: {service:.0f} models a second, hf_hub_download {loop:.0f}")
        what = f"{len(names):,} models never seen before, {callers} at once, of a bare hf_hub_download loop's rate"
        _part(bounds, what, service / loop, 0.5)


def _asking(url: str) -> Callable[[str], None]:
    """Asks the service for a model's report."""

    def ask(name: str) -> None:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        try:
            connection.request("GET", f"/v1/models/{name}?tp=8")
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{name} was answered with {answer.status}: {body[:500]!r}")

    return ask


def _downloading(hub: str, cache: Path) -> Callable[[str], None]:
    """Downloads the files of a model that a check reads, and does nothing with them."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()

    def download(name: str) -> None:
        hf_hub_download(name, "config.json", cache_dir=cache, token=False, endpoint=hub)
        with suppress(EntryNotFoundError):
            hf_hub_download(name, "hf_quant_config.json", cache_dir=cache, token=False, endpoint=hub)

    return download


def _part(bounds: Bounds, what: str, ratio: float, bound: float) -> None:
    bounds.holds(f"{what}: {ratio:.2f} (bound: at least {bound:g})", ratio >= bound)


if __name__ == "__main__":
    sys.exit(main())
