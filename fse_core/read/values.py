"""The bounds on a parsed document's values: plain JSON, numbers (an infinity only as such), a limited depth."""

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from fse_core.errors import InputError
from fse_core.read.getters import join, shown

MAX_DEPTH: Final = 64
"""How many objects and lists may stand inside one another, the outermost included."""

MAX_DIGITS: Final = 100
"""How long an integer may be. It keeps every integer convertible to a float and to text."""

MAX_VALUES: Final = 800_000
"""How many values a document may hold, keys included."""

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Fault:
    """Stands in a parsed document for what must be refused there, until its path is known."""

    __slots__ = ("key", "message")

    def __init__(self, message: str, key: str | None = None) -> None:
        self.message = message
        self.key = key


def checked(document: Mapping[str, Any] | Fault, name: str) -> dict[str, Any]:
    """A plain copy of `document`; an InputError with `name` and the path at the first value that is not allowed."""
    copy: dict[str, Any] = _Copier(name).copy(document, "", 1)
    return copy


class _Copier:
    def __init__(self, name: str) -> None:
        self.name = name
        self.seen = 0

    def error(self, path: str, message: str) -> InputError:
        return InputError(f"{self.name}: {path}" if path else self.name, message)

    def copy(self, value: Any, path: str, depth: int) -> Any:
        self.seen += 1
        if self.seen > MAX_VALUES:
            raise self.error("", f"holds more than {MAX_VALUES:,} values, which no model config does")
        if isinstance(value, Fault):
            raise self.error(path if value.key is None else join(path, value.key), value.message)
        if isinstance(value, Mapping):
            self._deep(path, depth)
            return {self._key(key, path): self.copy(item, join(path, key), depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            self._deep(path, depth)
            return [self.copy(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
        return self._scalar(value, path)

    def _deep(self, path: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise self.error(path, f"nested deeper than {MAX_DEPTH} levels")

    def _key(self, key: Any, path: str) -> str:
        if not isinstance(key, str):
            raise self.error(path, f"expected keys that are strings, got {type(key).__name__}")
        self._text(key, join(path, key))
        return key

    def _scalar(self, value: Any, path: str) -> Any:
        if isinstance(value, str):
            self._text(value, path)
        elif isinstance(value, float):
            if math.isnan(value):
                raise self.error(path, "expected a finite number, got NaN")
        elif isinstance(value, int):
            if abs(value) >= 10**MAX_DIGITS:
                raise self.error(path, f"expected an integer of at most {MAX_DIGITS} digits")
        elif value is not None:
            raise self.error(path, f"expected a JSON value, got {type(value).__name__}")
        return value

    def _text(self, text: str, path: str) -> None:
        # Half of a surrogate pair cannot be written to any output.
        if _LONE_SURROGATE.search(text):
            raise self.error(path, f"expected Unicode text, got half of a surrogate pair in {shown(text)}")
