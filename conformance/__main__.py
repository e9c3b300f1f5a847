"""The conformance check of every day: recorded answers, then fresh random questions to the release itself, what it has
in its expert parameters after it loaded tiny checkpoints, and whether it loads some faulty ones as we say.

usage: python -m conformance [--cases 60] [--seed N] [--jobs 2] [--vllm RELEASE]...
Asks 0.33.0 and one older release, another each day, unless releases are named. A seed's cases are always the same: what
fails here and did not before was broken by the change; conformance.fuzz looks for what nobody has seen. Sets a release
up when it is first used; where one cannot be had, the recorded part runs alone and a line says so.
Exit code 1 where anything differs.
"""

import argparse
import sys
from collections.abc import Iterator
from datetime import date

from conformance import asking, fuzz, install, load_truth, loading, record
from conformance.compare import summary
from conformance.home import RELEASE
from conformance.live.ask import Live
from conformance.questions import some

ASKED = ("0.24.0", "0.25.0", "0.26.0", "0.27.0", "0.28.0", "0.29.0", "0.30.0", "0.31.0", "0.32.0")
"""Older releases that can be asked about anything; docs/conformance.md says what is known of those before them."""


def recorded() -> bool:
    """Hold our answers against the recorded ones. Whether all agree and none is missing."""
    results = [_recorded_of(release) for release in record.recorded_releases()]
    return all(results)


def _recorded_of(release: str) -> bool:
    compared = agreed = cases = 0
    for file in record.files():
        for case, result in record.compare_recorded(file, release):
            cases += 1
            if result is None:
                compared += 1
                command = f"python -m conformance.record --vllm {release} {file.stem}"
                print(f"{file.stem}: {case.name}: not recorded: {command}")
                continue
            compared, agreed = compared + result.compared, agreed + result.agreed
            for text in summary(result.differences):
                print(text)
    print(f"recorded, {release}: {cases} cases, {agreed} agreed / {compared} compared")
    return agreed == compared


def live(arguments: argparse.Namespace, release: str) -> bool:
    """Ask a release itself about random cases. Whether nothing differs."""
    print(f"fresh, {release}:", flush=True)
    with Live(jobs=arguments.jobs) as servers:
        return fuzz.run(servers, release=release, cases=arguments.cases, seed=arguments.seed)


def loaded() -> bool:
    """Have 0.33.0 load tiny checkpoints, one rank of each. Whether our own loader gives the same bytes."""
    print(f"loaded, {RELEASE}:", flush=True)
    return loading.compare(loading.ask(some()))


def in_turn() -> str:
    """The older release whose turn it is today."""
    return ASKED[date.today().toordinal() % len(ASKED)]


def _checks(arguments: argparse.Namespace) -> Iterator[bool]:
    yield recorded()
    for release in arguments.vllm or (RELEASE, in_turn()):
        if install.ready(release) == install.UNAVAILABLE:
            print(f"SKIPPED: no fresh cases were asked of {release}, for the release itself is not here", flush=True)
        else:
            yield live(arguments, release)
            if release == RELEASE:
                yield loaded()
                yield asking.agrees()
            if release in load_truth.RELEASES:
                yield load_truth.few(release)


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--vllm", action="append", metavar="RELEASE")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    return 0 if all(list(_checks(arguments))) else 1


if __name__ == "__main__":
    sys.exit(main())
