"""The conformance check of every day: recorded answers, then fresh random questions to the release itself.

usage: python -m conformance [--cases 60] [--seed N] [--jobs 2]
Sets the release up when it is first used. Where it cannot be had, the recorded part runs alone and a line says so.
Exit code 1 where anything differs.
"""

import argparse
import sys
import time
from collections.abc import Iterator

from conformance import fuzz, install, record
from conformance.compare import summary
from conformance.live.ask import Live


def recorded() -> bool:
    """Hold our answers against the recorded ones. Whether all agree and none is missing."""
    compared = agreed = cases = 0
    for file in record.files():
        for case, result in record.compare_recorded(file):
            cases += 1
            if result is None:
                compared += 1
                print(f"{file.stem}: {case.name}: not recorded: python -m conformance.record {file.stem}")
                continue
            compared, agreed = compared + result.compared, agreed + result.agreed
            for text in summary(result.differences):
                print(text)
    print(f"recorded: {cases} cases, {agreed} agreed / {compared} compared")
    return agreed == compared


def live(arguments: argparse.Namespace) -> bool:
    """Ask the release itself about random cases. Whether nothing differs."""
    with Live(jobs=arguments.jobs) as release:
        return fuzz.run(release, cases=arguments.cases, seed=arguments.seed)


def _checks(arguments: argparse.Namespace) -> Iterator[bool]:
    yield recorded()
    if install.main() == install.UNAVAILABLE:
        print("SKIPPED: no fresh cases were asked, for the release itself is not here", flush=True)
        return
    yield live(arguments)


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()) // 60 % 100_000)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    return 0 if all(list(_checks(arguments))) else 1


if __name__ == "__main__":
    sys.exit(main())
