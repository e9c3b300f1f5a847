"""Asks the live release for the cases in `cases/` and records its answers; holds recorded answers against ours.

usage: python -m conformance.record [--vllm 0.33.0] [--all] [--jobs 2] [FILE...]     (files of cases/ by stem; else all)
Asks for cases that have no answer yet, or whose question changed; with --all for every one. Other releases are asked
the same questions, but for those that name an option which they do not have.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.case import Case, read_cases
from conformance.compact import pack, unpack
from conformance.compare import Comparison, judge
from conformance.home import PACKAGE, RELEASE
from conformance.live.ask import Live
from fse_core import releases
from fse_core.errors import InputError

CASES, RECORDED = PACKAGE / "cases", PACKAGE / "recorded"
Record = dict[str, Any]


def digest(case: Case) -> str:
    """Tells one question from another, whatever it is called."""
    raw = {key: value for key, value in case.as_dict().items() if key not in ("name", "note")}
    return hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()[:16]


def recorded_releases() -> list[str]:
    """The releases of which answers are kept, the oldest first."""
    kept = {folder.name for folder in RECORDED.iterdir()}
    return [release for release in releases.known() if release in kept]


def cases_for(file: Path, release: str) -> list[Case]:
    """The cases of a file as questions to `release`, without those that it cannot be asked."""
    return [case for case in (case.at(release) for case in read_cases(file)) if _can_ask(case)]


def _can_ask(case: Case) -> bool:
    try:
        releases.load(case.target.vllm).require(case.target)
    except InputError:
        return False
    return True


def records(file: Path, release: str) -> dict[str, Record]:
    """The recorded answers of `release` to the cases in a file, by the case's name."""
    recorded = RECORDED / release / f"{file.stem}.jsonl"
    lines = recorded.read_text().splitlines() if recorded.exists() else []
    return {record["name"]: record for record in map(json.loads, lines)}


def files(stems: list[str] | None = None) -> list[Path]:
    """The files of cases, all or those named."""
    return [file for file in sorted(CASES.glob("*.json")) if not stems or file.stem in stems]


def compare_recorded(file: Path, release: str) -> Iterator[tuple[Case, Comparison | None]]:
    """Each case of a file and how we compare; None where its answer is missing, or is one to another question."""
    known = records(file, release)
    for case in cases_for(file, release):
        record = known.get(case.name)
        fresh = record is not None and record["digest"] == digest(case)
        yield case, judge(case, unpack(record["answer"])) if record is not None and fresh else None


def record_file(live: Live, file: Path, release: str, *, everything: bool) -> int:
    """Ask what is to be asked, and write the file's answers in the order of its cases. How many were asked."""
    cases, known = cases_for(file, release), records(file, release)
    if everything:
        known = {}
    asked = [case for case in cases if known.get(case.name, {}).get("digest") != digest(case)]
    for case, answer in live.ask_all(asked):
        known[case.name] = {"name": case.name, "digest": digest(case), "answer": pack(answer)}
    lines = (json.dumps(known[case.name], separators=(",", ":")) + "\n" for case in cases)
    target = RECORDED / release / f"{file.stem}.jsonl"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("".join(lines))
    return len(asked)


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--vllm", default=RELEASE)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    with Live(jobs=arguments.jobs) as live:
        for file in files(arguments.files):
            print(f"{file.stem}: {record_file(live, file, arguments.vllm, everything=arguments.all)} asked", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
