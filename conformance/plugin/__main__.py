"""Holds what the plugin makes of real releases against what it should: see docs/plugin.md.

usage: python -m conformance.plugin [--record] [--only rows|online] [--verbose] [RELEASE...]
Exit code 1 where anything is wrong, 75 where a release cannot be had.
"""

import argparse
import sys
from collections.abc import Callable, Iterator

from conformance import install
from conformance.plugin import record
from conformance.plugin.rows import RELEASES

KINDS: dict[str, Callable[..., Iterator[record.Record]]] = {"online": record.online_loading, "rows": record.rows}


def wrong(kind: str, found: record.Record) -> str | None:
    """What is wrong with an answer, None where nothing is."""
    if kind == "online":
        return None if found["same"] else f"{found['question']} by {found['by']}: {found['error'] or 'other bytes'}"
    sound = found["with"]["sound"] or found["row"].startswith("refuse-")
    return None if sound else f"{found['row']}: {found['with']['text']}"


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("releases", nargs="*", metavar="RELEASE", default=RELEASES)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--verbose", action="store_true", help="show what the release prints")
    arguments = parser.parse_args()
    bad = 0
    for release in arguments.releases:
        if install.ready(release) == install.UNAVAILABLE:
            return install.UNAVAILABLE
        for kind in [arguments.only] if arguments.only else KINDS:
            found = list(KINDS[kind](release, verbose=arguments.verbose))
            complaints = [words for words in (wrong(kind, one) for one in found) if words is not None]
            for words in complaints:
                print(f"{release}: {words}", flush=True)
            print(f"{release}: {len(found) - len(complaints)} of {len(found)} {kind} as they should be", flush=True)
            bad += len(complaints)
            if arguments.record:
                record.write(kind, release, found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
