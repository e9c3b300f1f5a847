"""How fast a matrix is: all shipped examples on all known releases and two GPUs, and one as a whole command.

usage: python -m benchmarks.matrix     (exit status 1 if a bound is missed)
"""

import json
import sys
from pathlib import Path

from benchmarks.check import Bounds
from benchmarks.models import DEEPSEEK_R1
from benchmarks.timing import fastest, process
from examples.check import examples
from fse_core import releases
from fse_core.read.source import read_model
from fse_core.sweep import GPUS, sweep

RUNS = 5
ALL = 2.0
"""Seconds that all examples together may take."""
COMMAND = [str(Path(sys.executable).parent / "fse"), "matrix", str(DEEPSEEK_R1), "--tp", "8"]


def each(bounds: Bounds) -> None:
    """Every example: its files read, and a matrix made of it."""
    total, cells = 0.0, len(releases.known()) * len(GPUS)
    for example in examples():
        seconds = fastest(lambda: sweep(read_model(str(example.folder)), example.target), RUNS)  # noqa: B023
        print(f"  {seconds * 1000:7.1f} ms  {example.name}")
        total += seconds
    bounds.at_most(f"all {len(examples())} examples, {cells} cells each", total * 1000, ALL * 1000)


def together(bounds: Bounds) -> None:
    """All of them in a fresh interpreter, everything loaded on the way."""
    program = (
        "from examples.check import examples\n"
        "from fse_core.read.source import read_model\n"
        "from fse_core.sweep import sweep\n"
        "for example in examples():\n"
        "    sweep(read_model(str(example.folder)), example.target)\n"
    )
    seconds = process([sys.executable, "-c", program], RUNS)
    bounds.at_most("all examples in a fresh interpreter", seconds * 1000, ALL * 1000)


def command() -> None:
    """The whole command for one model, cold."""
    print(f"fse matrix DeepSeek-R1, the whole command (median of {RUNS}): {process(COMMAND, RUNS) * 1000:.0f} ms")


def main() -> int:
    """Measures everything and says what was missed."""
    bounds = Bounds()
    each(bounds)
    together(bounds)
    command()
    print(json.dumps({"missed": bounds.missed}))
    return 1 if bounds.missed else 0


if __name__ == "__main__":
    sys.exit(main())
