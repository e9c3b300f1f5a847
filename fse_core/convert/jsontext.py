"""Changes to one list or object inside a JSON text; every other character of the text stays as it is."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True, kw_only=True)
class Item:
    """An element of a list, or a member of an object (which has a key): its span in the text, and its value's."""

    start: int
    end: int
    value_start: int
    value: Any
    key: str | None = None


def items(text: str, start: int) -> list[Item]:
    """What the list or object whose bracket stands at `start` holds."""
    return list(_items(text, start))


def _items(text: str, start: int) -> Iterator[Item]:
    is_object = text[start] == "{"
    place = _space(text, start + 1)
    while text[place] not in "]}":
        first, key = place, None
        if is_object:
            key, place = _DECODER.raw_decode(text, place)
            place = _space(text, _space(text, place) + 1)
        value, end = _DECODER.raw_decode(text, place)
        yield Item(start=first, end=end, value_start=place, value=value, key=key)
        place = _space(text, end)
        if text[place] == ",":
            place = _space(text, place + 1)


def _space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()


def locate(text: str, path: Sequence[str]) -> int | None:
    """Where the value at `path` starts, None where there is none. The text is a JSON object."""
    place = _space(text, 0)
    for key in path:
        if text[place] != "{":
            return None
        found = next((item for item in _items(text, place) if item.key == key), None)
        if found is None:
            return None
        place = found.value_start
    return place


def rewritten(text: str, start: int, change: Callable[[Item], Sequence[str]], first: Sequence[str] = ()) -> str:
    """The text with the list or object at `start` changed.

    `change` gives for each item the JSON texts that take its place, itself (see `own`) to keep it; `first` come before
    all. What separates items stays as it is.
    """
    found = items(text, start)
    last = found[-1].end if found else start + 1
    close = _space(text, last)
    gap = text[start + 1 : found[0].start] if found else ""
    betweens = [text[one.end : two.start].replace(",", "", 1) for one, two in pairwise(found)]
    usual = next(iter(betweens), gap or " ")
    pieces = [(usual, piece) for piece in first]
    for item, between in zip(found, [usual, *betweens], strict=False):
        pieces += [(between, piece) for piece in change(item)]
    body = ",".join((gap if place == 0 else between) + piece for place, (between, piece) in enumerate(pieces))
    tail = text[last:close] if pieces else ""
    return f"{text[: start + 1]}{body}{tail}{text[close:]}"


def own(text: str, item: Item) -> tuple[str]:
    """The item as it stands in the text."""
    return (text[item.start : item.end],)
