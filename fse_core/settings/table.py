"""Typed access to a parsed TOML table. Every error names the file, the line where it is found, and the key."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from fse_core.errors import InputError
from fse_core.read.getters import join, shown

_KINDS: Final[Mapping[type, str]] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    dict: "a table",
    list: "a list",
}


class Table:
    """One table, the path that leads to it, and the lines of the file that it is in."""

    def __init__(self, data: Mapping[str, Any], path: str, file: str, lines: Mapping[str, int]) -> None:
        self.data = data
        self.path = path
        self.file = file
        self.lines = lines

    def error(self, key: str, message: str) -> InputError:
        """An error about the value of `key`, or about the table where it is empty."""
        path = self.at(key) if key else self.path
        line = self.line(key)
        where = self.file if line is None else f"{self.file}:{line}"
        return InputError(where, f"{path}: {message}" if path else message)

    def at(self, key: str) -> str:
        return join(self.path, key)

    def line(self, key: str = "") -> int | None:
        """The line of the key, else of the table."""
        dotted = f"{self.path}.{key}" if self.path and key else self.path or key
        return self.lines.get(dotted, self.lines.get(self.path))

    def only(self, names: Iterable[str]) -> None:
        """Refuses every other key."""
        known = list(names)
        for key in self.data:
            if key not in known:
                close = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
                raise self.error(key, f"is not a setting; {hint}")

    def get(self, key: str, kind: type, *, required: bool = False) -> Any:
        """The value, None where the key is absent."""
        value = self.data.get(key)
        if value is None:
            if required:
                raise self.error("", f"needs {key}, {_KINDS[kind]}")
            return None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.error(key, f"expected {_KINDS[kind]}, got {shown(value)}")
        return value

    def text(self, key: str) -> str:
        """A string that is there, and is not empty."""
        value: str = self.get(key, str, required=True)
        if not value.strip():
            raise self.error(key, "expected some words, got an empty string")
        return value

    def one_of(self, key: str, allowed: Iterable[str]) -> Any:
        """The value where it is one of these strings, None where the key is absent."""
        value, names = self.get(key, str), list(allowed)
        if value is not None and value not in names:
            raise self.error(key, f"expected one of {', '.join(names)}, got {shown(value)}")
        return value

    def strings(self, key: str) -> list[str]:
        """The list of strings, empty where the key is absent."""
        values: list[Any] = self.get(key, list) or []
        for value in values:
            if not isinstance(value, str):
                raise self.error(key, f"expected strings, got {shown(value)}")
        return values

    def table(self, key: str) -> "Table":
        """The table below, empty where the key is absent."""
        return self._below(self.get(key, dict) or {}, self.at(key))

    def tables(self, key: str) -> "list[Table]":
        """The tables of a list."""
        values: list[Any] = self.get(key, list) or []
        found = []
        for index, value in enumerate(values):
            if not isinstance(value, dict):
                raise self.error(key, f"expected tables, as [[{self.at(key)}]] makes them, got {shown(value)}")
            found.append(self._below(value, f"{self.at(key)}[{index}]"))
        return found

    def _below(self, data: Mapping[str, Any], path: str) -> "Table":
        return Table(data, path, self.file, self.lines)
