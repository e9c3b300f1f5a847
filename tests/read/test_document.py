"""Bytes to a dict: strict, bounded, and never anything but a dict or an InputError."""

import json
import math
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fse_core.errors import InputError
from fse_core.read.document import MAX_BYTES, parse_object
from fse_core.read.getters import Fields
from fse_core.read.values import MAX_DEPTH, MAX_DIGITS

SCALARS = st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.floats() | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=60)


def refusal(text: str | bytes) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_object(text.encode() if isinstance(text, str) else text, "config.json")
    return caught.value


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ('{"a": NaN}', "a", "expected a finite number, got NaN"),
        ('{"a": {"b": [1, -1e999]}}', "a.b[1]", "got -1e999"),
        ('{"a": [[1e999]]}', "a[0][0]", "got 1e999"),
        ('{"a": 1e999}', "a", "got 1e999"),
        ('{"a": -1e999}', "a", "got -1e999"),
        ('{"a": {"x": 1, "y": 2, "x": 1}}', "a.x", "more than once"),
        ('{"x": 1, "\\u0078": 2}', "x", "more than once"),
        ('{"x": {"y": NaN}, "x": 2}', "x", "more than once"),
        ('{"model.layers.*": {"": NaN}}', '["model.layers.*"][""]', "got NaN"),
        ('{"a\\u001b\\u202e": NaN}', '["a\\u001b\\u202e"]', "got NaN"),
        ('{"a": "\\ud800"}', "a", "half of a surrogate pair"),
        ('{"\\udfff": 1}', '["\\udfff"]', "half of a surrogate pair"),
        (f'{{"a": [{"9" * 101}]}}', "a[0]", "at most 100 digits"),
        (f'{{"a": -{"9" * 50_000}}}', "a", "at most 100 digits"),
    ],
)
def test_values_are_refused_with_their_path(text: str, path: str, message: str) -> None:
    error = refusal(text)
    assert error.path == f"config.json: {path}"
    assert message in error.message
    assert str(error).isprintable()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "an empty document"),
        (b" \n\t ", "an empty document"),
        (b"[]", "got a list"),
        (b"null", "got null"),
        (b"1", "got a number"),
        (b"1.5", "got a number"),
        (b"true", "got true or false"),
        (b'"x"', "got a string"),
        (b"NaN", "got NaN"),
        (b"{", "is not JSON: Expecting property name"),
        (b'{"a": 1} x', "is not JSON: Extra data (line 1, column 10)"),
        (b"{'a': 1}", "is not JSON"),
        (b'{"a": 01}', "is not JSON"),
        (b'{"a": 1,}', "is not JSON"),
        (b'{"a": "\n"}', "is not JSON"),
        (b"<!doctype html>", "is not JSON"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS pointer"),
        (b"\xef\xbb\xbf{}", "a UTF-8 byte order mark"),
        ("{}".encode("utf-16"), "a UTF-16 byte order mark"),
        ("{}".encode("utf-16-le"), "looks like UTF-16 or UTF-32"),
        ("{}".encode("utf-16-be"), "looks like UTF-16 or UTF-32"),
        ("{}".encode("utf-32-le"), "looks like UTF-16 or UTF-32"),
        (b'{"a": "\xff"}', "is not UTF-8: byte 7 is 0xff"),
        (b'{"a": "\xed\xa0\x80"}', "is not UTF-8"),
        (b" " * (MAX_BYTES + 1), "larger than 8 MiB"),
    ],
)
def test_documents_are_refused_with_their_name(data: bytes, message: str) -> None:
    error = refusal(data)
    assert error.path == "config.json"
    assert message in error.message


@pytest.mark.parametrize(("open_", "close"), [("[", "]"), ('{"a":', "}")])
def test_depth(open_: str, close: str) -> None:
    def nested(depth: int) -> bytes:
        inner = depth - 1
        return ('{"x":' + open_ * inner + "1" + close * inner + "}").encode()

    assert parse_object(nested(MAX_DEPTH), "config.json")
    assert "nested deeper than 64 levels" in refusal(nested(MAX_DEPTH + 1)).message
    assert "nested deeper than 64 levels" in refusal(nested(100_000)).message


def test_brackets_in_strings_are_no_depth() -> None:
    text = json.dumps({"a": "[" * 1000 + '\\"{' * 100})
    assert parse_object(text.encode(), "config.json") == json.loads(text)


def test_what_is_allowed() -> None:
    text = f'{{"a": {"9" * MAX_DIGITS}, "b": 1e308, "c": "\\ud83d\\ude00", "d": -0.0, "e": {{"a": 1}}}}'
    assert parse_object(text.encode(), "config.json") == json.loads(text)


@pytest.mark.parametrize(
    "data",
    [
        b'"' * MAX_BYTES,
        b'{"a":"' + b'\\"' * (MAX_BYTES // 2 - 4),
        b"\\" * MAX_BYTES,
        b'{"a":' + b"9" * (MAX_BYTES - 6) + b"}",
        b'{"a":[' + b"[]," * (MAX_BYTES // 3 - 4) + b"1]}",
        b'{"a":1' + b" " * (MAX_BYTES - 7),
    ],
)
def test_time_is_bounded(data: bytes) -> None:
    start = time.monotonic()
    refusal(data)
    assert time.monotonic() - start < 10


def plain(value: Any) -> bool:
    """Whether the strict reader has to take it."""
    if isinstance(value, float):
        return not math.isnan(value)
    if isinstance(value, list):
        return all(map(plain, value))
    return all(map(plain, value.values())) if isinstance(value, dict) else True


@given(st.dictionaries(st.text(), JSON), st.booleans())
def test_any_json_object_is_read_as_it_is_or_refused(document: dict[str, Any], ascii_only: bool) -> None:
    data = json.dumps(document, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    if plain(document):
        assert parse_object(data, "config.json") == document
    else:
        assert refusal(data).path.startswith("config.json: ")


@given(JSON)
def test_any_json_document_is_a_dict_or_an_error(document: Any) -> None:
    data = json.dumps(document).encode()
    if isinstance(document, dict) and plain(document):
        assert parse_object(data, "config.json") == document
    else:
        refusal(data)


@settings(max_examples=500)
@given(
    st.binary(max_size=400)
    | st.text(alphabet='{}[]",:\\u0de19.-NaInfity \n\ud83d\ude00', max_size=60).map(
        lambda text: text.encode("utf-8", "replace")
    )
)
@example(b"\x00")
@example(b'{"a":"\\')
def test_any_bytes_are_a_dict_or_an_error(data: bytes) -> None:
    try:
        outcome: object = parse_object(data, "config.json")
    except InputError as error:
        outcome = error.path
    assert isinstance(outcome, dict) or str(outcome).startswith("config.json")


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4), st.data())
def test_a_repeated_key_is_never_overlooked(document: dict[str, Any], data: st.DataObject) -> None:
    keys = [*document, "again", "again"]
    order = data.draw(st.permutations(keys))
    text = ", ".join(f"{json.dumps(key)}: {json.dumps(document.get(key))}" for key in order)
    assert "again: this key stands here more than once" in str(refusal(f"{{{text}}}"))


def test_an_infinity_is_kept_and_refused_only_where_it_is_read() -> None:
    """Released Mamba hybrids hold one, in a field that decides nothing here."""
    fields = Fields(
        parse_object(b'{"time_step_limit": [0.0, Infinity], "num_hidden_layers": -Infinity}', "config.json")
    )
    assert fields.get("time_step_limit") == [0.0, math.inf]
    with pytest.raises(InputError, match="num_hidden_layers: expected an integer, got -Infinity"):
        fields.integer("num_hidden_layers")
    with pytest.raises(InputError, match=r"time_step_limit\[0\]: expected an integer"):
        fields.integers("time_step_limit")
