"""The recorded answers: what each release made of each start, with the plugin and without."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from conformance.home import PACKAGE
from conformance.loading import records
from conformance.plugin import online
from conformance.plugin.ask import Answer, Start, ask
from conformance.plugin.beyond import BEYOND
from conformance.plugin.outcome import outcome
from conformance.plugin.rows import RELEASES, ROWS, Row

FOLDER = PACKAGE / "recorded" / "plugin"
_LINES = 6
Record = dict[str, Any]


def file(kind: str, release: str) -> Path:
    """Where answers are kept: `rows` or `online`, by release."""
    return FOLDER / f"{kind}-{release}.jsonl"


def recorded(kind: str) -> tuple[str, ...]:
    """The releases whose answers are kept, the oldest first."""
    return tuple(release for release in RELEASES if file(kind, release).exists())


def read(kind: str, release: str) -> list[Record]:
    """The recorded answers."""
    return [json.loads(line) for line in file(kind, release).read_text("utf-8").splitlines()]


def write(kind: str, release: str, found: Iterable[Record]) -> None:
    """Record answers, in place of those that are there."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(record, separators=(",", ":")) for record in found]
    file(kind, release).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def rows(release: str, *, verbose: bool = False) -> Iterator[Record]:
    """Each row that can be put to the release, asked without the plugin and with it."""
    asked: list[tuple[Row, Start]] = [
        (row, start) for row in (*ROWS, *BEYOND) if release in row.releases() for start in row.starts(release)
    ]
    found: dict[str, Record] = {row.id: {"row": row.id, "without": None} for row, _ in asked}
    answers = ask((start for _, start in asked), verbose=verbose)
    for (row, start), (_, answer) in zip(asked, answers, strict=True):
        found[row.id]["with" if start.plugin else "without"] = _row(answer)
    yield from found.values()


def online_loading(release: str, *, verbose: bool = False) -> Iterator[Record]:
    """Each start with shared experts to be quantized, and whether its slots are those of the reference release."""
    asked = list(online.starts(release))
    reference = {name: record["answer"]["loaded"] for name, record in records().items()}
    answers = ask((start for _, start in asked), verbose=verbose)
    for (question, start), (_, answer) in zip(asked, answers, strict=True):
        error = answer["error"]
        yield {
            "question": question.name,
            "by": "targets" if "overlay" in start.options else "variable",
            "error": None if error is None else f"{error['type']}: {error['message'][:80]}",
            "digest": online.digest(answer["loaded"]),
            "same": online.digest(answer["loaded"]) == online.digest(reference[question.name]),
            "lines": answer["lines"][:_LINES],
        }


def _row(answer: Answer) -> Mapping[str, Any]:
    found = outcome(answer)
    return {**asdict(found), "text": found.text, "key": answer["key"][:16], "lines": answer["lines"][:_LINES]}
