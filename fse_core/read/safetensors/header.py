"""The header of a safetensors file: eight bytes of length, then a JSON object, held to all that the format asks.

Source: safetensors/src/tensor.rs at 0.8.0 for what a reader refuses; the bound on the length is the Hub client's.
"""

import json
import re
from collections.abc import Iterable, Mapping
from math import prod
from sys import intern
from typing import Any, Final, NoReturn

from fse_core.errors import InputError
from fse_core.read.getters import shown
from fse_core.read.safetensors.dtypes import BITS
from fse_core.read.safetensors.facts import Header, Tensor

LENGTH: Final = 8
"""Bytes that state the length."""

MAX_HEADER: Final = 25_000_000
"""How long the JSON may be."""

_MOST_VALUES: Final = 2_500_000
"""Values that a header of that length may hold: an entry of a hundred bytes has eight commas and brackets."""

_LFS: Final = b"version "
_LARGEST: Final = 2**63
_MOST_DIMENSIONS: Final = 64
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def header_length(data: bytes, name: str, size: int) -> int:
    """The JSON's length, from the file's first bytes. `size` is the whole file's."""
    if size < LENGTH:
        raise InputError(name, f"is no safetensors file: it has {size} bytes, and the length of its header takes 8")
    if data[:LENGTH] == _LFS:
        raise InputError(name, "is a Git LFS pointer, not the file itself; `git lfs pull` fetches the file")
    length = int.from_bytes(data[:LENGTH], "little")
    if length > MAX_HEADER:
        raise InputError(name, f"states a header of {length:,} bytes; more than {MAX_HEADER:,} are not read")
    if length > size - LENGTH:
        raise InputError(name, f"states a header of {length:,} bytes, and the whole file has {size:,}: it is cut short")
    if length < 2:
        raise InputError(name, f"states a header of {length} bytes, which cannot hold a JSON object")
    return length


def parse_header(data: bytes, name: str, size: int) -> Header:
    """The header in `data`, which begins as the file does and holds at least the whole header."""
    length = header_length(data, name, size)
    text = data[LENGTH : LENGTH + length]
    if len(text) != length:
        raise InputError(name, f"ends after {len(text):,} of the {length:,} bytes of its header")
    document = _document(text, name)
    metadata, odd = _metadata(document.pop("__metadata__", None), name)
    tensors, places = _tensors(document, name)
    _require_whole(places, name, size - LENGTH - length)
    return Header(tensors=tensors, metadata=metadata, odd=odd, size=size)


def _document(text: bytes, name: str) -> dict[str, Any]:
    if not text.startswith(b"{"):
        raise InputError(name, "is no safetensors file: its header does not start as a JSON object")
    if text.count(b",") + text.count(b"[") + text.count(b"{") > _MOST_VALUES:
        raise InputError(name, f"has a header of more than {_MOST_VALUES:,} values, which no checkpoint needs")

    def once(items: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(items)
        if len(built) != len(items):
            key = _repeated(key for key, _ in items)
            raise InputError(name, f"the key {shown(key)} stands more than once in its header")
        return built

    try:
        document: dict[str, Any] = json.loads(text.decode("utf-8"), object_pairs_hook=once, parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise InputError(name, f"has a header that is not UTF-8: byte {error.start} of it") from None
    except (ValueError, RecursionError) as error:
        raise InputError(name, f"has a header that is not JSON: {error}") from None
    return document


def _constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _repeated(keys: Iterable[str]) -> str:
    seen: set[str] = set()
    return next(key for key in keys if key in seen or seen.add(key))  # type: ignore[func-returns-value]


def _metadata(value: Any, name: str) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """The texts, and the keys of what is none: released files hold such, and readers differ in what they make of it."""
    if value is None:
        return {}, ()
    if not isinstance(value, dict):
        raise InputError(name, f"__metadata__: expected an object, got {shown(value)}")
    texts = {key: item for key, item in value.items() if isinstance(item, str) and not _SURROGATE.search(key + item)}
    return texts, tuple(key for key in value if key not in texts)


def _tensors(document: Mapping[str, Any], name: str) -> tuple[dict[str, Tensor], list[tuple[int, int, str]]]:
    tensors: dict[str, Tensor] = {}
    places = []
    shapes: dict[tuple[int, ...], tuple[int, ...]] = {}  # a checkpoint has few, which its tensors share
    for key, entry in document.items():
        try:
            dtype, shape, start, end = _entry(key, entry)
        except _Wrong as wrong:
            raise InputError(f"{name}: {shown(key)}", str(wrong)) from None
        tensors[key] = Tensor(name=key, dtype=dtype, shape=shapes.setdefault(shape, shape), file=name)
        places.append((start, end, key))
    return tensors, places


class _Wrong(Exception):
    """What is wrong with an entry."""


def _entry(key: str, entry: Any) -> tuple[str, tuple[int, ...], int, int]:
    if _SURROGATE.search(key):
        raise _Wrong("expected Unicode text, got half of a surrogate pair")
    if not isinstance(entry, dict):
        raise _Wrong(f"expected an object with dtype, shape and data_offsets, got {shown(entry)}")
    dtype = entry.get("dtype")
    if not isinstance(dtype, str) or dtype not in BITS:
        raise _Wrong(f"dtype: expected one of {', '.join(BITS)}, got {shown(dtype)}")
    shape, offsets = _naturals(entry, "shape"), _naturals(entry, "data_offsets")
    if len(offsets) != 2 or offsets[0] > offsets[1]:
        raise _Wrong(f"data_offsets: expected a start and an end behind it, got {list(offsets)}")
    bits, taken = prod(shape) * BITS[dtype], offsets[1] - offsets[0]
    if bits % 8:
        raise _Wrong(f"{dtype} of shape {list(shape)} takes {bits} bits, which are no whole bytes")
    if bits != taken * 8:
        raise _Wrong(f"{dtype} of shape {list(shape)} takes {bits // 8:,} bytes, its data_offsets {taken:,}")
    return intern(dtype), shape, *offsets


def _naturals(entry: Mapping[str, Any], what: str) -> tuple[int, ...]:
    value = entry.get(what)
    if (
        not isinstance(value, list)
        or len(value) > _MOST_DIMENSIONS
        or not all(type(item) is int and 0 <= item < _LARGEST for item in value)
    ):
        raise _Wrong(f"{what}: expected a list of natural numbers, got {shown(value)}")
    return tuple(value)


def _require_whole(places: list[tuple[int, int, str]], name: str, size: int) -> None:
    """The tensors fill the rest of the file, in any order, each byte once."""
    places.sort()
    end, before = 0, ""
    for start, stop, key in places:
        if start < end:
            raise InputError(f"{name}: {shown(key)}", f"overlaps {shown(before)} by {end - start:,} bytes")
        if start > end:
            raise InputError(f"{name}: {shown(key)}", f"starts {start - end:,} bytes after what is before it: a gap")
        end, before = stop, key
    if end > size:
        raise InputError(name, f"lacks the last {end - size:,} bytes of its tensors: it is cut short")
    if end < size:
        raise InputError(name, f"has {size - end:,} bytes behind its last tensor that belong to none")
