"""How long the release itself takes for the same question."""

import json
import statistics
import time
from pathlib import Path

from conformance.case import Case
from conformance.home import default_home
from conformance.live.ask import Live
from fse_core.target import Target

WARM_BUILDS = 5


def answer_times(folder: Path, target: Target) -> tuple[float, float]:
    """Seconds from the start of its process to the first answer, and the median of its builds after that."""
    home = default_home()
    if not home.ready:
        raise RuntimeError(f"vLLM {home.release} is not set up here: `make conformance` does that")
    case = Case(name=folder.name, config=json.loads((folder / "config.json").read_bytes()), target=target)
    with Live(jobs=1) as live:
        started = time.perf_counter()
        first = live.ask(case)
        cold = time.perf_counter() - started
        answers = [live.ask(case) for _ in range(WARM_BUILDS + 1)][1:]
    for answer in (first, *answers):
        if answer["error"] is not None:
            raise RuntimeError(f"vLLM {home.release} gave no answer: {answer['error']['message']}")
    return cold, statistics.median(answer["seconds"] for answer in answers)
