"""How things are timed here: medians, and whole processes as a user starts them."""

import statistics
import subprocess
import time
from collections.abc import Callable, Sequence


def median(run: Callable[[], object], times: int) -> float:
    """The median of so many runs, in seconds, after one that does not count."""
    run()
    return statistics.median(_timed(run) for _ in range(times))


def fastest(run: Callable[[], object], times: int) -> float:
    """The fastest of so many runs, in seconds: what remains where nothing else ran."""
    return min(_timed(run) for _ in range(times))


def _timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def process(command: Sequence[str], times: int, *, statuses: Sequence[int] = (0,)) -> float:
    """The median time of the command from its start to its end, in seconds. It has to end with one of `statuses`."""

    def run() -> None:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode not in statuses:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-500:]}")

    return median(run, times)
