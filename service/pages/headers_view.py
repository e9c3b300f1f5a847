"""What the headers of a model's files say, and how far their reading is, for people."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from service.pages.layers import title_of
from service.readings import Progress


@dataclass(frozen=True, kw_only=True)
class Row:
    """One tensor of an expert."""

    expert: str
    name: str
    dtype: str
    shape: str
    file: str


@dataclass(frozen=True, kw_only=True)
class Group:
    """Layers whose experts are stored alike, with the tensors of the first one."""

    title: str
    count: int
    mixed: bool
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class Stored:
    """All of it. `problems` are those that no finding tells of."""

    mode: str
    files: int
    tensors: int
    size: int
    complete: bool
    groups: tuple[Group, ...]
    problems: tuple[str, ...]


def stored_of(body: bytes, findings: Iterable[Mapping[str, Any]]) -> Stored:
    """What a page shows of an `fse.headers/1` object."""
    data = json.loads(body)
    messages = [finding["message"] for finding in findings]
    problems = (f"{one['file']} {one['message']}".strip() for one in data["problems"])
    return Stored(
        mode=data["headers"],
        files=data["files"],
        tensors=data["tensors"],
        size=data["bytes"],
        complete=data["complete"],
        groups=tuple(_group(group) for group in data["layers"]),
        problems=tuple(one for one in problems if not any(one in message for message in messages)),
    )


def _group(group: Mapping[str, Any]) -> Group:
    rows = [_row(side, tensor) for side in ("routed", "shared") for tensor in group[side]]
    title = title_of(group["part"], group["indices"])
    return Group(title=title, count=len(group["indices"]), mixed=group["mixed"], rows=tuple(rows))


def _row(side: str, tensor: Mapping[str, Any]) -> Row:
    shape = " \N{MULTIPLICATION SIGN} ".join(f"{size:,}" for size in tensor["shape"]) or "no dimension"
    return Row(expert=side, name=tensor["name"], dtype=tensor["dtype"], shape=shape, file=tensor["file"])


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How far a reading is; `words` are those of each state, `of` is None as long as nobody knows."""

    doing: str
    words: Mapping[str, str]
    files: int
    of: int | None
    received: int


_DOING: Mapping[str, str] = {
    "waiting": "Waiting for its turn to read the headers",
    "reading": "Reading the headers",
    "checking": "Checking with the headers",
}


def reading_of(progress: Progress) -> Reading:
    """What a page shows of a reading's progress."""
    return Reading(
        doing=_DOING[progress.state],
        words=_DOING,
        files=progress.files,
        of=progress.of or None,
        received=progress.received,
    )
