"""Which tiny checkpoints load rightly, fail to load, or load silently wrong: the releases' word against our own.

usage: python -m conformance.load_truth [--vllm RELEASE]... [--recorded | --record | --few | --drawn N] [--seed N]
                                        [--only PATTERN] [--verbose]
Each kind's checkpoint is written, a live release loads it, and what `fse check --headers full` says of its folder is
held against that. --recorded compares with the recorded answers alone; --record asks for those that are not recorded
yet, or were of another checkpoint, and keeps them; --few asks for some, --drawn for so many others that are put
together by chance. --only takes the kinds that a pattern names.
Exit code 1 where anything differs, 75 where a release cannot be had.
"""

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from conformance import install
from conformance.checkpoints.drawn import drawn
from conformance.checkpoints.kinds import Kind, kinds
from conformance.home import PACKAGE, default_home
from conformance.live.ask import start
from conformance.outcomes import Truth, differs, opposite, parts, reversed_by, said, sampled

RELEASES = ("0.24.0", "0.28.0", "0.29.0", "0.32.0", "0.33.0")
GFX = "gfx950"
FOLDER = PACKAGE / "recorded" / "load_truth"
FEW = 12
INDEXES = {"small": "an index", "large": "an index too large to be read", "none": "none"}
"""What a sample may find beside the files."""


def records(release: str) -> dict[str, dict[str, str]]:
    """The recorded answers, by the kind's name."""
    file = FOLDER / f"{release}.jsonl"
    lines = file.read_text().splitlines() if file.exists() else ()
    return {record["name"]: record for record in map(json.loads, lines)}


def recorded(release: str, asked: Iterable[Kind]) -> Iterator[tuple[Kind, Truth | None]]:
    """Each kind with its recorded answer, None where there is none of this checkpoint."""
    kept = records(release)
    for kind in asked:
        record = kept.get(kind.name)
        known = record is not None and record["digest"] == kind.digest
        yield kind, Truth.from_dict(record) if record is not None and known else None


def ask(release: str, asked: Iterable[Kind], *, verbose: bool = False) -> Iterator[tuple[Kind, Truth]]:
    """The live release's answers, in the order of the kinds: one process a release, a child of it a kind."""
    os.nice(10)
    server = start(default_home(release), GFX, ("conformance.live.truth",), verbose=verbose)
    assert server.stdin is not None
    assert server.stdout is not None
    with server:
        for kind in asked:
            with tempfile.TemporaryDirectory() as folder:
                kind.write(Path(folder))
                target = {"tp": kind.recipe.tp, "overlay": kind.overlay, "draft": bool(kind.recipe.draft)}
                line = {"config": kind.config(), "folder": folder, "target": target, "rank": kind.recipe.tp - 1}
                server.stdin.write(json.dumps(line) + "\n")
                server.stdin.flush()
                answer = server.stdout.readline()
            if not answer:
                raise RuntimeError("the release ended without an answer; --verbose shows why")
            yield kind, Truth.of(json.loads(answer.replace(folder, "FOLDER")))
        server.stdin.close()


def record(release: str, asked: Iterable[Kind], *, verbose: bool) -> None:
    """Ask for what is not recorded, and keep each answer as it comes; drop those of kinds that are no more."""
    wanted = [kind for kind, truth in recorded(release, asked) if truth is None]
    kept = records(release)
    for kind, truth in ask(release, wanted, verbose=verbose) if wanted else ():
        kept[kind.name] = {"name": kind.name, "digest": kind.digest, **truth.as_dict()}
        write(release, kept)
    write(release, kept)


def write(release: str, kept: dict[str, dict[str, str]]) -> None:
    """The records of the kinds that there are, in their order."""
    lines = [json.dumps(kept[kind.name], separators=(",", ":")) for kind in kinds() if kind.name in kept]
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{release}.jsonl").write_text("".join(f"{line}\n" for line in lines))


class Samples:
    """How often a sample of the headers tells what the release does, by what it finds of an index."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.told: Counter[str] = Counter()
        self.certain: Counter[str] = Counter()

    def add(self, kind: Kind, release: str, truth: Truth) -> str | None:
        """Count one, of which the truth is known. What is told for certain and is not so."""
        found = []
        for index in INDEXES if truth.outcome != "does_not_start" else ():
            if index == "none" and kind.recipe.files != "one":  # the truth is of an index then
                continue
            ours = sampled(kind, release, GFX, index)
            found.append(reversed_by(ours, truth))
            for own, true in parts(ours, truth):
                if true.outcome == "does_not_start":
                    continue
                self.asked[index] += 1
                self.told[index] += own.likely == true.outcome
                self.certain[index] += own.likely == true.outcome == own.full != "sound"
        return next(filter(None, found), None)

    def words(self) -> str:
        """One line."""
        told = (
            f"{self.told[index]} of {self.asked[index]} with {what} ({self.certain[index]} faults for certain)"
            for index, what in INDEXES.items()
        )
        return f"  by a sample: {', '.join(told)}"


def compare(release: str, answers: Iterable[tuple[Kind, Truth | None]]) -> bool:
    """Print what differs. Whether nothing does."""
    counts: Counter[str] = Counter()
    samples = Samples()
    different = 0
    for kind, truth in answers:
        if truth is None:
            counts["not recorded"] += 1
            continue
        counts[truth.outcome] += 1
        ours = said(kind, release, GFX)
        difference = differs(ours, truth) or opposite(kind, ours, truth) or samples.add(kind, release, truth)
        if difference:
            different += 1
            print(f"{release} {kind.name}: {difference}", flush=True)
    words = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
    print(f"load truth, {release}: {sum(counts.values())} kinds ({words}), {different} differ", flush=True)
    print(samples.words(), flush=True)
    return not different and not counts["not recorded"]


def few(release: str) -> bool:
    """Ask the live release about some kinds, others each time that kinds are added. Whether nothing differs."""
    every = kinds()
    return compare(release, ask(release, every[:: -(-len(every) // FEW)]))


def _checks(arguments: argparse.Namespace) -> Iterator[bool]:
    pattern = arguments.only or "*"
    asked = [kind for kind in kinds() if fnmatchcase(kind.name, pattern)]
    for release in arguments.vllm or RELEASES:
        if arguments.recorded:
            yield compare(release, recorded(release, asked))
        elif install.ready(release) == install.UNAVAILABLE:
            raise SystemExit(install.UNAVAILABLE)
        elif arguments.record:
            record(release, asked, verbose=arguments.verbose)
            yield True
        elif arguments.few:
            yield few(release)
        elif arguments.drawn:
            chosen = drawn(arguments.seed, arguments.drawn)
            yield compare(release, ask(release, chosen, verbose=arguments.verbose))
        else:
            yield compare(release, ask(release, asked, verbose=arguments.verbose))


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--vllm", action="append", metavar="RELEASE")
    mode = parser.add_mutually_exclusive_group()
    for option in ("--recorded", "--record", "--few"):
        mode.add_argument(option, action="store_true")
    mode.add_argument("--drawn", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="PATTERN")
    parser.add_argument("--verbose", action="store_true", help="show what the release prints")
    arguments = parser.parse_args()
    return 0 if all(list(_checks(arguments))) else 1


if __name__ == "__main__":
    sys.exit(main())
