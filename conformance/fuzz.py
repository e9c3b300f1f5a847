"""Asks the release and us about random cases, and compares.

usage: python -m conformance.fuzz [--vllm 0.33.0] [--cases 2000] [--seed 0] [--minimum 10] [--jobs 2]
Runs until the release decided a layer in that many cases. Prints each case that differs, made as small as it gets, and
what was reached how often. Exit code 1 where any differs, or where something was reached less often than the minimum.
"""

import argparse
import itertools
import json
import re
import sys
import time
from collections.abc import Iterator

from conformance.case import Case
from conformance.compare import Comparison, judge, summary
from conformance.fuzzing.cases import case
from conformance.fuzzing.coverage import Coverage
from conformance.fuzzing.shrink import shrunk
from conformance.home import RELEASE
from conformance.live.ask import Answer, Live

BATCH = 60
PROGRESS = 200
PER_CASE = 1_000_000
"""Seeds of one run lie apart from those of the next by more than any run is long."""


def answered(live: Live, release: str, seed: int, wanted: int) -> Iterator[tuple[Case, Answer, Comparison]]:
    """Cases and what came of them, until the release decided a layer in as many as are wanted."""
    decided = 0
    for start in itertools.count(seed * PER_CASE, BATCH):
        for asked, answer in live.ask_all(case(number, release) for number in range(start, start + BATCH)):
            result = judge(asked, answer)
            decided += result.decided > 0
            yield asked, answer, result
            if decided >= wanted:
                return


def report_difference(live: Live, found: Case) -> None:
    """Print the smallest case in which something still differs."""
    small = shrunk(found, lambda smaller: bool(judge(smaller, live.ask(smaller)).differences))
    print(f"{found.name}: reproduce with:", json.dumps(small.as_dict()), flush=True)


def kind(found: Case, result: Comparison) -> tuple[str, ...]:
    """What two differences have in common that likely have the same cause."""
    first = result.differences[0]
    family = found.name.partition(" ")[0]
    return (family, *(re.sub(r"\S*[.\d]\S*", "#", text) for text in (first.release, first.ours)))


def run(live: Live, *, release: str = RELEASE, cases: int, seed: int, minimum: int = 0, shown: int = 20) -> bool:
    """Whether nothing differed, and enough of everything was reached."""
    coverage, started, asked, decided = Coverage(release), time.monotonic(), 0, 0
    found: dict[tuple[str, ...], list[tuple[Case, Comparison]]] = {}
    for each, answer, result in answered(live, release, seed, cases):
        asked += 1
        decided += result.decided > 0
        coverage.add(each, answer, decided=result.decided > 0)
        if result.differences:
            alike = found.setdefault(kind(each, result), [])
            alike.append((each, result))
            if len(alike) == 1:
                print(*summary(result.differences), sep="\n", flush=True)
        if asked % PROGRESS == 0:
            print(f"{decided} of {cases} decided, {asked} asked", file=sys.stderr, flush=True)
    seconds = time.monotonic() - started
    for alike in list(found.values())[:shown]:
        report_difference(live, alike[0][0])
        if len(alike) > 1:
            print("    alike:", ", ".join(each.name for each, _ in alike[1:]))
    missed = coverage.below(minimum)
    print(*coverage.table(), sep="\n")
    for group, name in missed:
        print(f"reached less than {minimum} times: {group} {name}")
    differing = sum(map(len, found.values()))
    print(f"\n{decided} cases decided of {asked} asked, {differing} differ; {asked / seconds:.1f} cases a second")
    return differing == 0 and not missed


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--vllm", default=RELEASE)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minimum", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    with Live(jobs=arguments.jobs) as live:
        good = run(
            live,
            release=arguments.vllm,
            cases=arguments.cases,
            seed=arguments.seed,
            minimum=arguments.minimum,
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
