"""The form in which answers are recorded: layers that differ in nothing but their number stand together."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Row = Mapping[str, Any]
LAYER = re.compile(r"(?<=\.)(\d+)(?=\.)")
ROWS = ("decisions", "built", "separate")
PLACEHOLDER = "{i}"


def pack(answer: Row) -> dict[str, Any]:
    """The answer as it is recorded."""
    kept = {key: value for key, value in answer.items() if key not in ("case", "seconds")}
    return kept | {key: list(_grouped(answer[key])) for key in ROWS}


def unpack(recorded: Row) -> dict[str, Any]:
    """The answer as the release gave it, but for the order of the layers."""
    return {**recorded, **{key: list(_single(recorded[key])) for key in ROWS}}


def _grouped(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    groups: dict[str, list[int | None]] = {}
    for row in rows:
        text = json.dumps(row)
        match = LAYER.search(text)
        number = match[1] if match else None
        template = text if number is None else re.sub(rf"(?<=\.){number}(?=\.)", PLACEHOLDER, text)
        groups.setdefault(template, []).append(None if number is None else int(number))
    for template, numbers in groups.items():
        yield {"layers": [number for number in numbers if number is not None], **json.loads(template)}


def _single(groups: Iterable[Row]) -> Iterator[dict[str, Any]]:
    for group in groups:
        template = json.dumps({key: value for key, value in group.items() if key != "layers"})
        for number in group["layers"] or [None]:
            yield json.loads(template if number is None else template.replace(PLACEHOLDER, str(number)))
