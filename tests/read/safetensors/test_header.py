"""One file's header: every dtype, every bound, and every way in which it may be wrong."""

import contextlib
import json
import random
from typing import Any

import pytest

from fse_core.errors import InputError
from fse_core.read.safetensors.dtypes import BITS
from fse_core.read.safetensors.facts import Tensor
from fse_core.read.safetensors.header import MAX_HEADER, parse_header
from tests.safetensors_files import entries, file, header


def parsed(document: Any, data: int) -> None:
    head = header(document)
    parse_header(head, "x.safetensors", len(head) + data)


def refused(document: Any, data: int, *parts: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed(document, data)
    for part in ("x.safetensors", *parts):
        assert part in str(caught.value)


def one(**changed: Any) -> dict[str, Any]:
    return {"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24], **changed}}


def test_a_tensor_and_the_metadata() -> None:
    whole = file({"a": ("BF16", (2, 3)), "b": ("F32", ())}, {"format": "pt"})
    found = parse_header(whole.head, "x.safetensors", whole.size)
    assert found.tensors == {
        "a": Tensor(name="a", dtype="BF16", shape=(2, 3), file="x.safetensors"),
        "b": Tensor(name="b", dtype="F32", shape=(), file="x.safetensors"),
    }
    assert (found.metadata, found.odd, found.size) == ({"format": "pt"}, (), whole.size)
    assert [tensor.bytes for tensor in found.tensors.values()] == [12, 4]


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [
        *((name, 4) for name in ("F4",)),
        *((name, 6) for name in ("F6_E2M3", "F6_E3M2")),
        *((name, 8) for name in ("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ")),
        *((name, 16) for name in ("U16", "I16", "F16", "BF16")),
        *((name, 32) for name in ("U32", "I32", "F32")),
        *((name, 64) for name in ("U64", "I64", "F64", "C64")),
    ],
)
def test_every_dtype_takes_its_bits(dtype: str, bits: int) -> None:
    parsed(one(dtype=dtype, shape=[4, 2], data_offsets=[0, bits]), bits)
    refused(one(dtype=dtype, shape=[4, 2], data_offsets=[0, bits + 1]), bits + 1, '"a"', f"takes {bits} bytes")


def test_no_other_dtype_is_known() -> None:
    assert len(BITS) == 22
    refused(one(dtype="F2"), 24, '"a"', "dtype", "F8_E8M0", '"F2"')
    refused(one(dtype=None), 24, "dtype", "null")
    refused(one(dtype=["F32"]), 24, "dtype")


@pytest.mark.parametrize(("dtype", "shape", "bits"), [("F4", [3], 12), ("F6_E2M3", [2], 12), ("F6_E3M2", [1, 3], 18)])
def test_a_tensor_fills_whole_bytes(dtype: str, shape: list[int], bits: int) -> None:
    refused(one(dtype=dtype, shape=shape, data_offsets=[0, 2]), 2, '"a"', f"{bits} bits")


@pytest.mark.parametrize("shape", [None, 3, "2", [2, "3"], [2, -3], [2, 3.0], [True, 6], [2**63], [1] * 65, {}])
def test_what_is_no_shape(shape: Any) -> None:
    refused(one(shape=shape), 24, '"a"', "shape: expected a list of natural numbers")


@pytest.mark.parametrize("offsets", [None, [], [24], [0, 24, 24], [24, 0], [-1, 23], [0.0, 24.0], "0"])
def test_what_are_no_offsets(offsets: Any) -> None:
    refused(one(data_offsets=offsets), 24, '"a"', "data_offsets")


def test_sizes_that_overflow_a_reader() -> None:
    refused(one(shape=[2**62, 2**62], data_offsets=[0, 24]), 24, "takes")


@pytest.mark.parametrize("document", [[1], 3, "text", None, True])
def test_a_header_that_is_no_object(document: Any) -> None:
    refused(document, 0, "no safetensors file" if len(json.dumps(document)) > 1 else "cannot hold a JSON object")


@pytest.mark.parametrize("entry", [3, None, "F32", [], True])
def test_an_entry_that_is_no_object(entry: Any) -> None:
    refused({"a": entry}, 0, '"a"', "expected an object")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (b'{"a": ', "not JSON"),
        (b'{"a": NaN}', "not JSON"),
        (b'{"a\xff": 1}', "not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        (b'{"a": ' + b"[" * 20_000 + b"]" * 20_000 + b"}", "not JSON"),
        (b'{"a": ' + b"1" * 5_000 + b"}", "not JSON"),
        (b' {"a": 1}', "does not start as a JSON object"),
        (b"{}\0\0", "not JSON"),
        (b'{"a":[' + b"[]," * 1_300_000 + b"[]]}", "more than 2,500,000 values"),
    ],
    ids=["cut", "nan", "bytes", "surrogate bytes", "deep", "digits", "blank first", "zeros", "many"],
)
def test_what_is_no_json(text: bytes, part: str) -> None:
    refused(text, 0, part)


def test_blanks_behind_are_padding() -> None:
    parsed(b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}    ', 1)


def test_a_name_with_half_a_surrogate_pair() -> None:
    refused(b'{"a\\ud800":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1, "surrogate")


def test_a_key_that_stands_twice() -> None:
    entry = json.dumps(one()["a"])
    refused(f'{{"a": {entry}, "b": {entry}, "a": {entry}}}'.encode(), 24, '"a" stands more than once')
    refused(b'{"a": {"dtype": "U8", "dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}', 1, '"dtype"')
    refused(b'{"__metadata__": {}, "__metadata__": {}}', 0, "__metadata__")


def test_tensors_fill_the_file() -> None:
    document, size = entries({"a": ("U8", (4,)), "b": ("U8", (4,)), "none": ("U8", (0,)), "c": ("U8", (4,))})
    shuffled = list(document.items())
    random.Random(7).shuffle(shuffled)
    parsed(dict(shuffled), size)
    refused(document, size - 1, "lacks the last 1 bytes", "cut short")
    refused(document, size + 5, "5 bytes behind its last tensor")
    refused({**document, "b": {**document["b"], "data_offsets": [3, 7]}}, size, '"b"', 'overlaps "a" by 1')
    refused({**document, "b": document["a"]}, size, "overlaps", "by 4")
    moved = {
        name: {**entry, "data_offsets": [x + 2 for x in entry["data_offsets"]]} for name, entry in document.items()
    }
    refused(moved, size + 2, '"a"', "2 bytes after", "a gap")
    refused({name: document[name] for name in ("a", "c")}, size, '"c"', "a gap")


@pytest.mark.parametrize(
    ("metadata", "texts", "odd"),
    [
        (None, {}, ()),
        ({}, {}, ()),
        ({"format": "pt", "step": 3, "more": {"x": 1}}, {"format": "pt"}, ("step", "more")),
        ({"bad": "\ud800"}, {}, ("bad",)),
    ],
)
def test_metadata_of_any_kind(metadata: Any, texts: dict[str, str], odd: tuple[str, ...]) -> None:
    head = header({"__metadata__": metadata})
    found = parse_header(head, "x.safetensors", len(head))
    assert (found.metadata, found.odd) == (texts, odd)


@pytest.mark.parametrize("metadata", [[], "pt", 3])
def test_metadata_that_is_no_object(metadata: Any) -> None:
    refused({"__metadata__": metadata}, 0, "__metadata__")


@pytest.mark.parametrize(
    ("data", "size", "part"),
    [
        (b"", 0, "has 0 bytes"),
        (b"1234567", 7, "has 7 bytes"),
        (header(b"", size=0), 100, "header of 0 bytes"),
        (header(b"{", size=1), 100, "header of 1 bytes"),
        (header(b"{}", size=2**63), 2**40, "9,223,372,036,854,775,808 bytes"),
        (header(b"{}", size=2**64 - 1), 2**40, "more than 25,000,000 are not read"),
        (header(b"{}", size=MAX_HEADER + 1), 2**40, "25,000,001 bytes; more than 25,000,000 are not read"),
        (header(b"{}", size=93), 100, "93 bytes, and the whole file has 100: it is cut short"),
        (header(b"{}", size=50), 100, "ends after 2 of the 50 bytes"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", 130, "Git LFS pointer"),
    ],
)
def test_lengths(data: bytes, size: int, part: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_header(data, "x.safetensors", size)
    assert part in str(caught.value)


def test_a_header_of_the_largest_length() -> None:
    head = header(b"{}".ljust(MAX_HEADER))
    assert parse_header(head, "x.safetensors", len(head)).tensors == {}


def test_no_damage_ends_in_another_error() -> None:
    whole = file({f"model.layers.{n}.w": ("BF16", (4, n + 1)) for n in range(5)}, {"format": "pt"})
    chance = random.Random(3)
    for _ in range(3_000):
        data = bytearray(whole.head)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        with contextlib.suppress(InputError):
            parse_header(bytes(data), "x.safetensors", whole.size)
