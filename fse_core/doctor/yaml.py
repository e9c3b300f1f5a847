"""The plain part of YAML, in which --config files are written: mappings, lists, scalars, and JSON in one line.

What is beyond it (anchors, tags, text over several lines) is refused by its line: it is not guessed at.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from fse_core.errors import InputError

_KEY = re.compile(r"""("[^"]*"|'[^']*'|[^\s:#'"\[\]{}&*!|>%@`-][^:#]*?|-[^\s:#][^:#]*?)\s*:(?:\s+(.*)|)$""")
_NUMBERS = ((re.compile(r"[-+]?(0|[1-9]\d*)"), int), (re.compile(r"[-+]?(\d+\.\d*|\.\d+)([eE][-+]\d+)?"), float))
_WORDS: Mapping[str, Any] = {
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
_DEEPEST = 64
"""The column at which nothing begins any more."""
_BEYOND = tuple("&*!|>%@`")


def read(text: str, name: str) -> dict[str, Any]:
    """The mapping that the document is. InputError where it is none, or not plain."""
    reader = _Reader(text, name)
    if reader.at == len(reader.lines):
        return {}
    whole = reader.block(reader.lines[0][1])
    if reader.at != len(reader.lines):
        raise reader.refusal("is indented like no line above it")
    if not isinstance(whole, dict):
        raise InputError(name, "expected a mapping of options to values")
    return whole


class _Reader:
    """Lines that hold something: number, indentation, text."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.at = 0
        self.lines: list[tuple[int, int, str]] = []
        for number, line in enumerate(text.splitlines(), 1):
            body = _without_comment(line).rstrip()
            if body.strip() and body.strip() not in ("---", "..."):
                self.lines.append((number, len(body) - len(body.lstrip(" ")), body.strip(" ")))

    def refusal(self, why: str) -> InputError:
        """About the line that is at hand."""
        number, _, text = self.lines[min(self.at, len(self.lines) - 1)]
        return InputError(self.name, f"line {number} {why}: {text[:80]!r}")

    def block(self, indent: int) -> Any:
        """The mapping or list whose lines begin at that column."""
        if indent > _DEEPEST:
            raise self.refusal("is nested too deep")
        return self._list(indent) if self._is_item() else self._mapping(indent)

    def _is_item(self) -> bool:
        text = self.lines[self.at][2]
        return text == "-" or text.startswith("- ")

    def _here(self, indent: int) -> bool:
        return self.at < len(self.lines) and self.lines[self.at][1] == indent

    def _mapping(self, indent: int) -> dict[str, Any]:
        whole: dict[str, Any] = {}
        while self._here(indent) and not self._is_item():
            match = _KEY.fullmatch(self.lines[self.at][2])
            if match is None:
                raise self.refusal("is no plain `key: value`")
            key, text = match[1].strip("'\""), match[2]
            if text:
                whole[key] = self._value(text)
                self.at += 1
            else:
                self.at += 1
                whole[key] = self._below(indent)
        return whole

    def _below(self, indent: int) -> Any:
        """What is indented further; a list may stand at the column of its key."""
        if self.at == len(self.lines):
            return None
        inner = self.lines[self.at][1]
        if inner > indent or (inner == indent and self._is_item()):
            return self.block(inner)
        return None

    def _list(self, indent: int) -> list[Any]:
        whole = []
        while self._here(indent) and self._is_item():
            text = self.lines[self.at][2][1:].strip()
            if not text or _KEY.fullmatch(text):
                raise self.refusal("is a list's item that is no plain value")
            whole.append(self._value(text))
            self.at += 1
        return whole

    def _value(self, text: str) -> Any:
        if text[0] in "\"'":
            return self._quoted(text)
        if text[0] in "[{":
            return self._flow(text)
        if text.startswith(_BEYOND):
            raise self.refusal("is beyond the plain YAML that is read here")
        return scalar(text)

    def _quoted(self, text: str) -> str:
        if len(text) < 2 or text[-1] != text[0]:
            raise self.refusal("leaves a quote open")
        if text[0] == "'":
            return text[1:-1].replace("''", "'")
        try:
            value: str = json.loads(text)
        except ValueError:
            raise self.refusal("is no plain quoted text") from None
        return value

    def _flow(self, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
        inner = text[1:-1]
        if text[0] == "[" and text.endswith("]") and not re.search(r"[\[\]{}\"']", inner):
            return [scalar(item.strip()) for item in inner.split(",") if item.strip()]
        raise self.refusal("holds brackets that are no JSON")


def scalar(text: str) -> Any:
    """A word, a number, or the text."""
    if text in _WORDS:
        return _WORDS[text]
    return next((kind(text) for pattern, kind in _NUMBERS if pattern.fullmatch(text)), text)


def _without_comment(line: str) -> str:
    quote = ""
    for at, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and (at == 0 or line[at - 1] in " [{,:-"):
            quote = character
        elif character == "#" and (at == 0 or line[at - 1] in " \t"):
            return line[:at]
    return line
