"""Lists and mappings in one line of YAML: `[a, "b"]`, `{name: x, nested: {a: 1}}`."""

import json
import re
from collections.abc import Callable
from typing import Any

_PLAIN = re.compile(r"[^,\[\]{}\"'&*!|>%@`#][^,\[\]{}]*")
_KEY = re.compile(r"[^,\[\]{}\"':&*!|>%@`#-][^,\[\]{}:]*(?=:(?:\s|$))")
_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"')
_SINGLE = re.compile(r"'(?:[^']|'')*'")
_SPACE = re.compile(r"\s*")
_DEEPEST = 32


class NotFlow(ValueError):
    """The text is none of these, or more than is read here."""


def read(text: str, scalar: Callable[[str], Any]) -> Any:
    """The value of the whole text, which begins with a bracket. NotFlow where it is none."""
    value, end = _value(text, 0, scalar, 0)
    if text[end:].strip():
        raise NotFlow
    return value


def _value(text: str, at: int, scalar: Callable[[str], Any], depth: int) -> tuple[Any, int]:
    if depth > _DEEPEST:
        raise NotFlow
    at = _after_space(text, at)
    if text[at : at + 1] == "[":
        return _list(text, at + 1, scalar, depth)
    if text[at : at + 1] == "{":
        return _mapping(text, at + 1, scalar, depth)
    quoted = _quoted(text, at)
    if quoted is not None:
        return quoted
    plain = _PLAIN.match(text, at)
    if plain is None or re.search(r":\s|\s#", plain[0]):
        raise NotFlow
    return scalar(plain[0].strip()), plain.end()


def _quoted(text: str, at: int) -> tuple[str, int] | None:
    single = _SINGLE.match(text, at)
    if single is not None:
        return single[0][1:-1].replace("''", "'"), single.end()
    double = _DOUBLE.match(text, at)
    if double is None:
        return None
    try:
        value: str = json.loads(double[0])
    except ValueError:
        raise NotFlow from None
    return value, double.end()


def _list(text: str, at: int, scalar: Callable[[str], Any], depth: int) -> tuple[list[Any], int]:
    whole: list[Any] = []
    at = _after_space(text, at)
    while text[at : at + 1] != "]":
        value, at = _value(text, at, scalar, depth + 1)
        whole.append(value)
        at = _next(text, at, "]")
    return whole, at + 1


def _mapping(text: str, at: int, scalar: Callable[[str], Any], depth: int) -> tuple[dict[str, Any], int]:
    whole: dict[str, Any] = {}
    at = _after_space(text, at)
    while text[at : at + 1] != "}":
        quoted = _quoted(text, at)
        plain = _KEY.match(text, at) if quoted is None else None
        if quoted is None and plain is None:
            raise NotFlow
        key, at = quoted if quoted is not None else (plain[0].rstrip(), plain.end())  # type: ignore[index, union-attr]
        at = _after_space(text, at)
        if text[at : at + 1] != ":":
            raise NotFlow
        whole[key], at = _value(text, at + 1, scalar, depth + 1)
        at = _next(text, at, "}")
    return whole, at + 1


def _next(text: str, at: int, end: str) -> int:
    """Where the next item begins, or the end is."""
    at = _after_space(text, at)
    if text[at : at + 1] == ",":
        return _after_space(text, at + 1)
    if text[at : at + 1] != end:
        raise NotFlow
    return at


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at
