"""Names and patterns of a quantization block, looked up for many modules in little time.

A checkpoint lists up to thousands of entries, most of which name their decoder layer. An entry whose fixed text holds
`layers.7.` can only match modules of layer 7, so that it is tried for those alone.
"""

import fnmatch
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from fse_core.quantization.regexes import compile_pattern

T = TypeVar("T")

_LAYER = re.compile(r"layers\.\d+\.")
_ANYTHING = ".*"
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A pattern as the fixed texts that must follow one another in a name, or as a regular expression where it is more.

    `fixed` is the longest text that every match contains. With `whole` the last text must end the name.
    """

    fixed: str
    texts: tuple[str, ...] | None = None
    whole: bool = False
    regex: Callable[[], re.Pattern[str]] | None = None

    def match(self, name: str) -> bool:
        if self.fixed not in name:
            return False
        if self.texts is None:
            assert self.regex is not None
            return self.regex().match(name) is not None
        first, *rest = self.texts
        if not rest:
            return name == first if self.whole else name.startswith(first)
        return name.startswith(first) and self._follow(name, len(first), rest)

    def _follow(self, name: str, start: int, texts: list[str]) -> bool:
        *middle, last = texts
        for text in middle:
            found = name.find(text, start)
            if found < 0:
                return False
            start = found + len(text)
        return name.endswith(last, start) if self.whole else name.find(last, start) >= 0


def glob(text: str) -> Pattern:
    """A shell pattern, which must match the whole name."""
    if "?" in text or "[" in text:
        return Pattern(fixed="", regex=lambda: re.compile(fnmatch.translate(text)))
    texts = tuple(text.split("*"))
    return Pattern(fixed=max(texts, key=len), texts=texts, whole=True)


def regular(text: str) -> Pattern:
    """A regular expression, which must match from the name's start."""
    whole = text.endswith("$") and not text.endswith("\\$")
    pieces = text.removeprefix("^").removesuffix("$" if whole else "").split(_ANYTHING)
    texts = [piece.replace("\\.", "\0") for piece in pieces]
    if any(_SPECIAL.search(piece) for piece in texts):
        compile_pattern(text)  # what cannot be compiled is told before any module is looked up
        return Pattern(fixed="", regex=lambda: compile_pattern(text))
    plain = tuple(piece.replace("\0", ".") for piece in texts)
    return Pattern(fixed=max(plain, key=len), texts=plain, whole=whole)


class LayerIndex(Generic[T]):
    """Items by the decoder layer that their fixed text names, kept in the order in which they were given."""

    def __init__(self, items: Iterable[tuple[str, T]]) -> None:
        self._items: list[T] = []
        self._anywhere: list[int] = []
        self._by_layer: dict[str, list[int]] = {}
        for place, (fixed, item) in enumerate(items):
            self._items.append(item)
            found = _LAYER.search(fixed)
            places = self._anywhere if found is None else self._by_layer.setdefault(found.group(), [])
            places.append(place)

    def for_name(self, name: str) -> list[T]:
        """The items that could match `name`, in order."""
        places = self._anywhere
        for layer in _LAYER.findall(name) if self._by_layer else ():
            places = places + self._by_layer.get(layer, [])
        return [self._items[place] for place in (places if places is self._anywhere else sorted(places))]

    @cached_property
    def empty(self) -> bool:
        return not self._items
