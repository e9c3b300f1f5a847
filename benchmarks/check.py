"""How fast a check is, measured in one run: on its own, against the vLLM release itself, and against hf-mem.

usage: python -m benchmarks.check     (exit status 1 if a bound is missed or could not be measured)
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.models import DEEPSEEK_R1, deepseek_r1, many_entries, model, quark_entries
from benchmarks.timing import fastest, median, process
from fse_core import Target, check

TARGET = Target(vllm="0.33.0", tp=8)
PROCESSES = 15
CHECK = [str(Path(sys.executable).parent / "fse"), "check", str(DEEPSEEK_R1), "--tp", "8"]


class Bounds:
    """What was promised, and whether it held."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def at_most(self, what: str, milliseconds: float, bound: float) -> None:
        self._say(f"{what}: {milliseconds:.1f} ms (bound: under {bound:g} ms)", milliseconds < bound)

    def at_least(self, what: str, ratio: float, bound: float) -> None:
        self._say(f"{what}: {ratio:,.1f} times (bound: at least {bound:g})", ratio >= bound)

    def holds(self, what: str, held: bool) -> None:
        self._say(what, held)

    def not_measured(self, what: str, why: str) -> None:
        self._say(f"{what}: NOT MEASURED, {why}", False)

    def _say(self, line: str, held: bool) -> None:
        print(f"  {'ok    ' if held else 'MISSED'}  {line}")
        if not held:
            self.missed.append(line)


def importing(bounds: Bounds) -> None:
    """A fresh interpreter that imports fse_core, less one that imports nothing."""
    bare = process([sys.executable, "-c", "pass"], PROCESSES) * 1000
    whole = process([sys.executable, "-c", "import fse_core"], PROCESSES) * 1000
    print(f"import fse_core (median of {PROCESSES} processes): {whole:.1f} ms, the bare interpreter {bare:.1f} ms")
    bounds.at_most("what the import adds", whole - bare, 40)
    seen = "import sys; before = set(sys.modules); import fse_core; print(*(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True).stdout.split()
    own = {"fse_core", *sys.stdlib_module_names}
    foreign = sorted({name.partition(".")[0] for name in loaded} - own)
    bounds.holds(f"third-party modules loaded: {', '.join(foreign) or 'none'}", not foreign)


def in_process() -> float:
    """Reading and checking DeepSeek-R1, in seconds."""
    seconds = median(lambda: check(deepseek_r1(), TARGET), 50)
    print(f"DeepSeek-R1, read and checked in process: {seconds * 1000:.2f} ms")
    return seconds


def command() -> float:
    """The whole command, cold, in seconds."""
    seconds = process(CHECK, PROCESSES)
    print(f"fse check DeepSeek-R1, the whole command (median of {PROCESSES}): {seconds * 1000:.0f} ms")
    return seconds


def against_release(bounds: Bounds, warm: float, cold: float) -> None:
    """The same question to the release: its whole cold answer, and a model build once everything is imported."""
    from benchmarks.release import answer_times

    try:
        release_cold, release_warm = answer_times(DEEPSEEK_R1, TARGET)
    except RuntimeError as error:
        bounds.not_measured("the release's own answer", str(error))
        return
    print(f"the release itself: {release_cold:.1f} s cold, {release_warm:.2f} s for a warm build")
    bounds.at_least("a check in process is faster than the release's warm build by", release_warm / warm, 500)
    bounds.at_least("the cold command is faster than the release's cold answer by", release_cold / cold, 60)


def against_hf_mem(bounds: Bounds, cold: float) -> None:
    """hf-mem's help, from an environment made for this alone."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [f"{folder}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "hf-mem"]
        for step in ([sys.executable, "-m", "venv", folder], pip):
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            if done.returncode:
                why = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
                bounds.not_measured("hf-mem --help", why)
                return
        seconds = process([f"{folder}/bin/hf-mem", "--help"], PROCESSES)
    print(f"hf-mem --help (median of {PROCESSES}): {seconds * 1000:.0f} ms")
    bounds.at_least("the cold command is faster than hf-mem --help by", seconds / cold, 1)


def sizes(bounds: Bounds) -> None:
    """What a long exclude list costs, and how that grows."""
    for name, config in (("FP8", many_entries), ("Quark", quark_entries)):
        seconds = _usual(config(92, 1000))
        bounds.at_most(f"{name}, 92 layers and 1,000 exclude entries", seconds * 1000, 20)
        _table(bounds, name, config)


def _usual(config: dict[str, Any]) -> float:
    return median(lambda: check(model(config), TARGET), 15)


def _fastest(config: dict[str, Any]) -> float:
    return fastest(lambda: check(model(config), TARGET), 7)


def _table(bounds: Bounds, name: str, config: Callable[[int, int], dict[str, Any]]) -> None:
    layers, entries = (46, 92, 184, 368), (1000, 2000, 4000, 8000)
    print(f"  {name}, milliseconds by layers (down) and exclude entries (across)")
    print(f"  {'':>8}" + "".join(f"{count:>10,}" for count in entries))
    times = {}
    for row in layers:
        times.update({(row, column): _fastest(config(row, column)) * 1000 for column in entries})
        print(f"  {row:>8}" + "".join(f"{times[row, column]:>10.2f}" for column in entries))
    work = layers[-1] * entries[-1] / (layers[0] * entries[0])
    growth = times[layers[-1], entries[-1]] / times[layers[0], entries[0]]
    bounds.holds(f"{work:.0f} times the layers x entries take {growth:.1f} times as long", growth <= work)


def main() -> int:
    """Measures everything and says what was missed."""
    bounds = Bounds()
    importing(bounds)
    warm, cold = in_process(), command()
    sizes(bounds)
    against_hf_mem(bounds, cold)
    against_release(bounds, warm, cold)
    print(json.dumps({"missed": bounds.missed}))
    return 1 if bounds.missed else 0


if __name__ == "__main__":
    sys.exit(main())
