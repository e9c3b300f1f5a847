"""Has the live release load tiny checkpoints, and holds what is then in its expert parameters against our own loading.

usage: python -m conformance.loading [--recorded | --record | --few] [--verbose]
Every byte of every expert parameter counts, and those that loading does not write too. --recorded compares with the
recorded answers alone, without the release; --record writes them anew; --few asks for one rank of each checkpoint.
Exit code 1 where anything differs, 75 where the release cannot be had.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from conformance import install
from conformance.home import PACKAGE, RELEASE, default_home
from conformance.live.ask import start
from conformance.questions import GFX, Question, questions, some

RECORDED = PACKAGE / "recorded" / "loading" / f"{RELEASE}.jsonl"
Answer = Mapping[str, Any]


def records() -> dict[str, dict[str, Any]]:
    """The recorded answers, by the question's name."""
    return {record["name"]: record for record in map(json.loads, RECORDED.read_text().splitlines())}


def recorded(question: Question) -> Answer:
    """The recorded answer to a question. LookupError where there is none."""
    record = records().get(question.name)
    if record is None or record["digest"] != question.digest:
        raise LookupError(f"{question.name}: not recorded: python -m conformance.loading --record")
    answer: Answer = record["answer"]
    return answer


def ask(asked: Iterable[Question], *, verbose: bool = False) -> Iterator[tuple[Question, Answer]]:
    """The live release's answers, in the order of the questions."""
    questions = list(asked)
    with tempfile.TemporaryDirectory() as folder:
        lines = (_line(question, Path(folder, question.tiny.name)) for question in questions)
        yield from zip(questions, answers(lines, verbose=verbose), strict=True)


def _line(question: Question, place: Path) -> dict[str, Any]:
    if not place.exists():
        place.mkdir()
        question.tiny.write(place)
    return {
        "config": question.tiny.config(),
        "tensors": str(place / "model.safetensors"),
        "target": question.target,
        "rank": question.rank,
    }


def answers(lines: Iterable[Mapping[str, Any]], *, verbose: bool = False) -> Iterator[Answer]:
    """The live release's answers to questions as `conformance.live.load` takes them, in their order."""
    server = start(default_home(RELEASE), GFX, ("conformance.live.load",), verbose=verbose)
    assert server.stdin is not None
    assert server.stdout is not None
    with server:
        for line in lines:
            server.stdin.write(json.dumps(line) + "\n")
            server.stdin.flush()
            answer = server.stdout.readline()
            if not answer:
                raise RuntimeError("the release ended without an answer; --verbose shows why")
            yield json.loads(answer)
        server.stdin.close()


def write(answered: Iterable[tuple[Question, Answer]]) -> None:
    """Record answers, in place of those that are there."""
    lines = [
        json.dumps({"name": question.name, "digest": question.digest, "answer": answer}, separators=(",", ":"))
        for question, answer in answered
    ]
    RECORDED.parent.mkdir(parents=True, exist_ok=True)
    RECORDED.write_text("".join(f"{line}\n" for line in lines))


def compare(answered: Iterable[tuple[Question, Answer]]) -> bool:
    """Print what differs, and what the release does not load rightly itself. Whether nothing differs."""
    from conformance.loaded import compare as compared

    counts: Counter[str] = Counter()
    for question, answer in answered:
        if answer["error"] is not None:
            counts["release raises"] += 1
            print(f"{question.name}: release raises {answer['error']['type']}: {answer['error']['message']}")
        for held in compared(question, answer["loaded"]):
            counts[held.kind] += 1
            if held.kind != "agreed":
                print(f"{question.name}: {held.parameter} {held.kind}: {held.words}", flush=True)
    print(f"loading: {', '.join(f'{count} {kind}' for kind, count in counts.most_common())}")
    return not counts["differs"]


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    mode = parser.add_mutually_exclusive_group()
    for option in ("--recorded", "--record", "--few"):
        mode.add_argument(option, action="store_true")
    parser.add_argument("--verbose", action="store_true", help="show what the release prints")
    arguments = parser.parse_args()
    if arguments.recorded:
        return 0 if compare((question, recorded(question)) for question in questions()) else 1
    if install.ready(RELEASE) == install.UNAVAILABLE:
        return install.UNAVAILABLE
    answered = ask(some() if arguments.few else questions(), verbose=arguments.verbose)
    if arguments.record:
        write(answered)
        return 0
    return 0 if compare(answered) else 1


if __name__ == "__main__":
    sys.exit(main())
