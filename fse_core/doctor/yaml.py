"""The plain part of YAML, in which --config files and manifests are written: mappings, lists, scalars, both kinds of
brackets in one line, and literal text (`|`).

What is beyond it (anchors, tags, folded text, brackets over several lines) is refused by its line, and not guessed at.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from fse_core.doctor import flow
from fse_core.errors import InputError

_KEY = re.compile(r"""("[^"]*"\s*|'[^']*'\s*|[^\s:#'"\[\]{}&*!|>%@`-][^:#]*|-[^\s:#][^:#]*):(?:\s+(.*)|)$""")
_NUMBERS = ((re.compile(r"[-+]?(0|[1-9]\d{,99})"), int), (re.compile(r"[-+]?(\d+\.\d*|\.\d+)([eE][-+]\d+)?"), float))
_WORDS: Mapping[str, Any] = {
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
_DEEPEST = 64
"""The column at which nothing begins any more."""
_BEYOND = tuple("&*!|>%@`")
_INNER_KEY = re.compile(r":(?:\s|$)")
_DASHES = re.compile(r"(?:- +)*")
_DASHED = re.compile(r" *-\s+(?=[^|\s])")
_LITERALS = ("|", "|-")


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
        self.literals: dict[int, str] = {}
        lines = text.splitlines()
        number = 0
        while number < len(lines):
            body = _without_comment(lines[number]).rstrip()
            number += 1
            if body == "---" and self.lines:
                raise InputError(name, f"line {number} begins another document")
            if body.strip() and body.strip() not in ("---", "..."):
                indent = len(body) - len(body.lstrip(" "))
                self.lines.append((number, indent, body.strip(" ")))
                if (style := _style(body)) in _LITERALS:
                    key = _DASHED.match(body)  # behind whose column all is the text's
                    column = indent if key is None else key.end()
                    self.literals[number], number = _literal(lines, number, column, keep=style == "|")

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
            key, text = match[1].rstrip().strip("'\""), match[2]
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
            number, _, line = self.lines[self.at]
            text = line[1:].strip()
            if not text or text == "-" or text.startswith("- "):
                raise self.refusal("is a list's item that is no plain value")
            if _KEY.fullmatch(text):  # a mapping, which begins behind the dash
                inner = indent + len(line) - len(line[1:].lstrip(" "))
                self.lines[self.at] = number, inner, text
                whole.append(self.block(inner))
            else:
                whole.append(self._value(text))
                self.at += 1
        return whole

    def _value(self, text: str) -> Any:
        if text[0] in "\"'":
            return self._quoted(text)
        if text[0] in "[{":
            return self._flow(text)
        if text[0] == "|" and self.lines[self.at][0] in self.literals:
            return self.literals[self.lines[self.at][0]]
        if text.startswith((*_BEYOND, "- ")) or text == "-" or _INNER_KEY.search(text):
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
            return flow.read(text, scalar)
        except flow.NotFlow:
            raise self.refusal("holds brackets that are not read here") from None


def _style(line: str) -> str:
    """What stands for the value of the line's key or item."""
    rest = line.strip(" ")
    rest = rest[_DASHES.match(rest).end() :]  # type: ignore[union-attr]
    match = _KEY.fullmatch(rest)
    return rest if match is None else match[2] or ""


def _literal(lines: list[str], at: int, indent: int, *, keep: bool) -> tuple[str, int]:
    """The lines from `at` on that are indented further, without the indentation of the first, and where they end."""
    held: list[str] = []
    while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip(" ")) > indent):
        held.append(lines[at])
        at += 1
    first = next((line for line in held if line.strip()), "")
    begins = len(first) - len(first.lstrip(" "))
    text = "\n".join(line[begins:] for line in held).rstrip("\n")
    return f"{text}\n" if keep and text else text, at


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
