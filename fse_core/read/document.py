"""Bytes to a JSON object, strictly: whatever the bytes are, the result is a dict or an InputError that says where."""

import json
import math
import re
from collections.abc import Iterable
from typing import Any, Final, NoReturn

from fse_core.errors import InputError
from fse_core.read.values import MAX_DEPTH, MAX_DIGITS, MAX_VALUES, Fault, checked

MAX_BYTES: Final = 8 * 1024 * 1024
"""How large a document may be. At this size and within MAX_VALUES, parsing stays under 200 MB."""

# The closing quote is optional: a scan that tried again after an unclosed string would take quadratic time.
_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{},]', re.DOTALL)
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_KIND: Final = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}
_MARKS: Final = {
    b"\xef\xbb\xbf": "a UTF-8 byte order mark: save it as UTF-8 without one",
    b"\xff\xfe": "a UTF-16 byte order mark: save it as UTF-8",
    b"\xfe\xff": "a UTF-16 byte order mark: save it as UTF-8",
}


def parse_object(data: bytes, name: str) -> dict[str, Any]:
    """The JSON object that `data` holds. `name` is what errors call the document, e.g. `config.json`."""
    if len(data) > MAX_BYTES:
        raise too_large(name)
    text = _decode(data, name)
    _bound(text, name)
    faults: list[Fault] = []
    document = _parse(text, name, faults)
    if not isinstance(document, (dict, Fault)):
        found = _KIND.get(type(document), "a number")
        raise InputError(name, f"expected a JSON object, got {found}")
    if isinstance(document, Fault) or faults or _SURROGATE_ESCAPE.search(text):
        return checked(document, name)
    return document


def too_large(name: str) -> InputError:
    """The error for a document beyond MAX_BYTES."""
    return InputError(name, f"larger than {MAX_BYTES // 1024**2} MiB, which no model config is")


def _decode(data: bytes, name: str) -> str:
    if not data.strip():
        raise InputError(name, "expected a JSON object, got an empty document")
    if data.startswith(b"version https://git-lfs"):
        raise InputError(name, "is a Git LFS pointer, not the file itself; `git lfs pull` fetches the file")
    for mark, what in _MARKS.items():
        if data.startswith(mark):
            raise InputError(name, f"starts with {what}")
    if b"\0" in data[:4]:
        raise InputError(name, "is not UTF-8 (it looks like UTF-16 or UTF-32); save it as UTF-8")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(name, f"is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}") from None


def _bound(text: str, name: str) -> None:
    """Refuses what would need a deep recursion or much memory to parse, before it is parsed."""
    depth = 0
    for count, match in enumerate(_TOKEN.finditer(text)):
        if count > MAX_VALUES:
            raise InputError(name, f"holds more than {MAX_VALUES:,} values, which no model config does")
        token = match[0]
        if token in ("[", "{"):
            depth += 1
            if depth > MAX_DEPTH:
                raise InputError(name, f"nested deeper than {MAX_DEPTH} levels at {_place(text, match.start())}")
        elif token in ("]", "}"):
            depth -= 1


def _place(text: str, index: int) -> str:
    line = text.count("\n", 0, index) + 1
    return f"line {line}, column {index - text.rfind(chr(10), 0, index)}"


def _parse(text: str, name: str, faults: list[Fault]) -> Any:
    def fault(message: str, key: str | None = None) -> Fault:
        faults.append(Fault(message, key))
        return faults[-1]

    def integer(digits: str) -> int | Fault:
        if len(digits.lstrip("-")) > MAX_DIGITS:
            return fault(f"expected an integer of at most {MAX_DIGITS} digits")
        return int(digits)

    def real(digits: str) -> float | Fault:
        value = float(digits)
        return value if math.isfinite(value) else fault(f"expected a finite number, got {_short(digits)}")

    def constant(word: str) -> float | Fault:
        # Released Mamba hybrids hold `"time_step_limit": [0.0, Infinity]`, and vLLM reads them. Nothing here asks for
        # such a number: a getter refuses it, with the path, wherever one is read.
        return fault(f"expected a finite number, got {word}") if word == "NaN" else float(word)

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any] | Fault:
        built = dict(items)
        if len(built) == len(items):
            return built
        # A fault further in is lost with the values, which does not matter: this one is reported.
        return fault("this key stands here more than once", _repeated(key for key, _ in items))

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_int=integer, parse_float=real, parse_constant=constant)
    except json.JSONDecodeError as error:
        _refuse(name, error)


def _refuse(name: str, error: json.JSONDecodeError) -> NoReturn:
    raise InputError(name, f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None


def _repeated(keys: Iterable[str]) -> str:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    raise AssertionError("every key is unique")


def _short(digits: str) -> str:
    return digits if len(digits) <= 30 else f"{digits[:27]}..."
