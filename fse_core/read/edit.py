"""A change to a JSON document that leaves all else as it was written: order, numbers, indents."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fse_core.read.positions import Span, spans

_FIRST_INDENT: Final = re.compile(r"\{\r?\n([ \t]+)")

Keys = tuple[str | int, ...]


@dataclass(frozen=True, kw_only=True)
class _Edit:
    start: int
    end: int
    text: str


def edited(text: str, patch: Mapping[str, Any]) -> str:
    """The document with `patch` merged into it: objects by their keys, all else in the place of what is there.

    `text` was parsed before, and is an object. A key that is None in `patch` becomes null, which configs take for
    absent.
    """
    writer = _Writer(text, patch)
    for edit in sorted(writer.edits(patch, ()), key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


class _Writer:
    """Where what is changed stands, and how the document is written."""

    def __init__(self, text: str, patch: Mapping[str, Any]) -> None:
        indent = _FIRST_INDENT.search(text)
        self._text = text
        self._indent = indent[1] if indent else None
        self._newline = "\r\n" if "\r\n" in text else "\n"
        wanted = {(), *_paths(patch, ())}
        self._spans: dict[Keys, Span] = {}
        self._last: dict[Keys, int] = {}
        for span in spans(text):
            if span.keys in wanted:
                self._spans[span.keys] = span
            if span.keys and span.keys[:-1] in wanted:
                self._last[span.keys[:-1]] = span.end

    def edits(self, patch: Mapping[str, Any], above: Keys) -> Iterator[_Edit]:
        new = {}
        for key, value in patch.items():
            span = self._spans.get((*above, key))
            if span is None:
                new[key] = value
            elif isinstance(value, Mapping) and self._text[span.value] == "{":
                yield from self.edits(value, span.keys)
            else:
                yield _Edit(start=span.value, end=span.end, text=self._written(value, len(span.keys)))
        if new:
            yield self._added(new, above)

    def _added(self, new: Mapping[str, Any], above: Keys) -> _Edit:
        depth = len(above) + 1
        lead = "" if self._indent is None else self._newline + self._indent * depth
        gap = " " if self._indent is None else lead
        members = [
            f"{json.dumps(key, ensure_ascii=False)}: {self._written(value, depth)}" for key, value in new.items()
        ]
        last = self._last.get(above)
        if last is not None:
            return _Edit(start=last, end=last, text="".join(f",{gap}{member}" for member in members))
        span = self._spans[above]
        close = "" if self._indent is None else self._newline + self._indent * (depth - 1)
        return _Edit(start=span.value, end=span.end, text="{" + lead + f",{gap}".join(members) + close + "}")

    def _written(self, value: Any, depth: int) -> str:
        text = json.dumps(value, indent=self._indent, ensure_ascii=False)
        return text if self._indent is None else text.replace("\n", self._newline + self._indent * depth)


def _paths(patch: Mapping[str, Any], above: Keys) -> Iterator[Keys]:
    for key, value in patch.items():
        yield (*above, key)
        if isinstance(value, Mapping):
            yield from _paths(value, (*above, key))
