"""How fast `fse doctor --log` reads, beside `grep -c` in the same run, and in how much memory.

usage: python -m benchmarks.log [--size 2] [--folder DIR]     (exit status 1 if a bound is missed; size in GB)
Two logs are written, read and removed: one of what a server prints while it serves, and one whose lines hold all those
bytes that the reader looks for. In the middle of each stand the 464 refusals of a DeepSeek-R1 with eight ranks.
"""

import argparse
import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "conformance" / "recorded" / "logs" / "0.33.0-r1-mxfp4-eight-ranks.log.gz"
MODEL = ROOT / "examples" / "amd--DeepSeek-R1-MXFP4"
NEEDLE = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"
REFUSALS = 464
RATIO = 0.3
"""How much of grep's speed there has to be, by the time of a processor."""
MEMORY = 32
"""MB by which a large log may take more than a small one."""
RUNS = 3
BLOCK = 20_000
"""Requests in a block that is written again and again."""


def serving(number: int) -> Iterator[str]:
    """Lines of a server that serves."""
    yield (
        f"(APIServer pid=1) INFO 11-30 13:{number % 60:02d}:00 [loggers.py:259] Engine 000: Avg prompt throughput: "
        f"{number % 9000}.1 tokens/s, Avg generation throughput: {number % 900}.4 tokens/s, "
        f"Running: {number % 256} reqs, Waiting: 0 reqs, GPU KV cache usage: {number % 100}.3%, "
        f"Prefix cache hit rate: {number % 97}.0%"
    )
    for port in range(4):
        address = f"10.0.{number % 256}.{port}:{50000 + number % 9999}"
        yield f'(APIServer pid=1) INFO:     {address} - "POST /v1/chat/completions HTTP/1.1" 200 OK'


def wordy(number: int) -> Iterator[str]:
    """Lines with every byte that marks a line, and no such line."""
    yield (
        f"(APIServer pid=1) INFO 11-30 13:{number % 60:02d}:00 [logger.py:39] Received request chatcmpl-{number}: "
        f"params: SamplingParams(n=1, top_p=0.95, extra_args={{}}), lora_request: None, X-Request-Id: {number}, "
        "LoRA: none, Queue: 3"
    )
    yield (
        f"(APIServer pid=1) INFO 11-30 13:{number % 60:02d}:00 [metrics.py:101] SpecDecoding metrics: Mean acceptance "
        f"length: 2.{number % 100}, Accepted throughput: 63.2 tokens/s, Per-position acceptance rate: 0.9"
    )
    yield from serving(number)


def write(file: Path, lines: Callable[[int], Iterator[str]], size: int) -> None:
    """A log of at least that many bytes."""
    block = "".join(f"{line}\n" for number in range(BLOCK) for line in lines(number)).encode()
    half = max(1, size // len(block) // 2)
    with file.open("wb") as opened:
        for part in (block, gzip.decompress(RECORDED.read_bytes()), block):
            for _ in range(half if part is block else 1):
                opened.write(part)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Seconds by the clock, and of a processor: the latter do not hang on what else this machine does."""

    clock: float
    processor: float


def run(command: list[str]) -> tuple[str, Cost]:
    """What the command prints, and what it costs."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    clock, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, Cost(clock=clock, processor=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def doctor(file: Path) -> Cost:
    """The whole command on the log, which has to find what there is."""
    program = str(Path(sys.executable).parent / "fse")
    told, cost = run([program, "doctor", "--log", str(file), "--source", str(MODEL), "--format", "json"])
    found = sum(said["count"] for said in json.loads(told)["log"]["said"] if said["kind"] == "refused")
    assert found == REFUSALS, found
    return cost


def grep(file: Path) -> Cost:
    """The same file, searched for one fixed string in the C locale, where grep is fastest."""
    told, cost = run(["grep", "-c", NEEDLE, str(file)])
    assert int(told) == REFUSALS
    return cost


def memory(file: Path) -> float:
    """The most that reading takes, in MB, in a process of its own."""
    program = (
        "import resource, sys\n"
        "from fse_core.doctor.log.files import opened\n"
        "from fse_core.doctor.log.tally import Tally\n"
        "with opened(sys.argv[1], '--log') as file:\n"
        "    Tally().read(file)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return int(done.stdout) / 1024


def measured(file: Path, name: str) -> bool:
    """Prints what both cost, in turn, so that both meet the same neighbours. Whether the ratio holds."""
    pairs = [(grep(file), doctor(file)) for _ in range(RUNS)]
    theirs, ours = (min(pair[side].processor for pair in pairs) for side in (0, 1))
    clocks = [min(pair[side].clock for pair in pairs) for side in (0, 1)]
    size = file.stat().st_size / 1e9
    print(
        f"  {name}, {size:.2f} GB: fse doctor {ours:.2f} s ({size / ours:.2f} GB/s), grep -c {theirs:.2f} s "
        f"({size / theirs:.2f} GB/s), of a processor: {theirs / ours:.2f} of its speed "
        f"(by the clock {clocks[1]:.2f} and {clocks[0]:.2f} s: {clocks[0] / clocks[1]:.2f})",
        flush=True,
    )
    return theirs / ours >= RATIO


def flat(small: Path, large: Path) -> bool:
    """Prints the memory that both take. Whether it is about the same."""
    one, other = memory(small), memory(large)
    print(f"  memory: {one:.0f} MB for {small.stat().st_size / 1e6:.0f} MB, {other:.0f} MB for the largest log")
    return other - one <= MEMORY


def main() -> int:
    """Measures everything and says what was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", type=float, default=2.0, metavar="GB")
    parser.add_argument("--folder", type=Path, help="where there is room for a log (default: the temporary folder)")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fse-log-", dir=arguments.folder))
    missed = []
    started = time.monotonic()
    try:
        small = folder / "small.log"
        write(small, serving, 10_000_000)
        for name, lines in (("a server's log", serving), ("a wordy log", wordy)):
            large = folder / "large.log"
            write(large, lines, int(arguments.size * 1e9))
            missed += [] if measured(large, name) else [name]
            missed += [] if flat(small, large) else [f"memory of {name}"]
    finally:
        shutil.rmtree(folder)
    print(json.dumps({"missed": missed, "seconds": round(time.monotonic() - started)}))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
