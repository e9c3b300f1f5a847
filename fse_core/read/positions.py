"""Where each value stands in the text of a JSON document that was parsed before."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fse_core.read.getters import join

_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},:]|[^\s\[\]{},:"]++', re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """One value. `path` is as errors and evidence write it; `keys` lead to it from the document's top.

    start: where its key begins, or (in a list) itself. value, end: where the value itself begins and ends.
    """

    path: str
    keys: tuple[str | int, ...]
    start: int
    value: int
    end: int

    @property
    def pointer(self) -> str:
        """The JSON Pointer (RFC 6901)."""
        return "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in self.keys)


def spans(text: str, name: str = "") -> Iterator[Span]:
    """All values, each after those that it holds. `name` is what all paths begin with."""
    return _Scanner(text).value((), name, None)


def line_and_column(text: str, index: int) -> tuple[int, int]:
    """Both from 1; a column is a character."""
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


class _Scanner:
    """One pass over the tokens."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.finditer(text)
        self._token = next(self._tokens)

    def _next(self) -> "re.Match[str]":
        """The token here, which is left behind."""
        token = self._token
        self._token = next(self._tokens, token)
        return token

    def value(self, keys: tuple[str | int, ...], path: str, key: int | None) -> Iterator[Span]:
        first = self._next()
        if first[0] == "{":
            yield from self._members(keys, path)
        elif first[0] == "[":
            yield from self._items(keys, path)
        end = self._next().end() if first[0] in ("{", "[") else first.end()
        start = first.start()
        yield Span(path=path, keys=keys, start=start if key is None else key, value=start, end=end)

    def _members(self, keys: tuple[str | int, ...], path: str) -> Iterator[Span]:
        while self._token[0] != "}":
            token = self._next()
            key: str = json.loads(token[0])
            self._next()  # the colon
            yield from self.value((*keys, key), join(path, key), token.start())
            self._comma()

    def _items(self, keys: tuple[str | int, ...], path: str) -> Iterator[Span]:
        index = 0
        while self._token[0] != "]":
            yield from self.value((*keys, index), f"{path}[{index}]", None)
            index += 1
            self._comma()

    def _comma(self) -> None:
        if self._token[0] == ",":
            self._next()
