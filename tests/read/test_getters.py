"""The typed getters: the right type or an InputError with the path, whatever the value is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fse_core.errors import InputError
from fse_core.read.getters import Fields, join, shown

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
TYPES: dict[str, type] = {
    "integer": int,
    "boolean": bool,
    "string": str,
    "sequence": list,
    "strings": list,
    "integers": list,
    "object": Fields,
}


@pytest.mark.parametrize("getter", TYPES)
@given(value=VALUES)
def test_the_right_type_or_an_error_with_the_path(getter: str, value: Any) -> None:
    try:
        found: Any = getattr(Fields({"key": value}, "outer"), getter)("key")
    except InputError as error:
        assert error.path.startswith("outer.key")  # noqa: PT017
        assert error.message.startswith("expected ")  # noqa: PT017
        assert str(error).isprintable()  # noqa: PT017
        return
    assert isinstance(found, TYPES[getter])
    assert getter != "integer" or not isinstance(found, bool)


@pytest.mark.parametrize("raw", [{}, {"key": None}])
@pytest.mark.parametrize("getter", ["integer", "boolean", "string"])
def test_absent_and_null_take_the_default(raw: dict[str, Any], getter: str) -> None:
    for default in (None, 7, "d", False):
        assert getattr(Fields(raw), getter)("key", default) is default
    with pytest.raises(InputError, match="got null" if raw else "got nothing"):
        getattr(Fields(raw), getter)("key")


def test_a_given_value_is_no_default_even_where_it_equals_it() -> None:
    with pytest.raises(InputError, match="at least 0, got -1"):
        Fields({"key": -1}).integer("key", -1)


def test_messages() -> None:
    fields = Fields({"sizes": [128, "128"], "flag": True, "nested": {"a": "x" * 100}}, "quantization_config")
    with pytest.raises(InputError, match=r'^quantization_config\.sizes\[1\]: expected an integer, got "128"$'):
        fields.integers("sizes")
    with pytest.raises(InputError, match="flag: expected an integer, got true"):
        fields.integer("flag")
    with pytest.raises(InputError, match=r'nested\.a: expected a list, got "x{56}\.\.\.$'):
        fields.object("nested").sequence("a")


@pytest.mark.parametrize(
    ("path", "key", "expected"),
    [
        ("", "a", "a"),
        ("a", "b-1", "a.b-1"),
        ("a", "b.c", 'a["b.c"]'),
        ("a", "", 'a[""]'),
        ("", "*", '["*"]'),
        ("file.json:", "a", "file.json: a"),
        ("file.json:", "*", 'file.json: ["*"]'),
    ],
)
def test_paths(path: str, key: str, expected: str) -> None:
    assert join(path, key) == expected


@given(VALUES)
def test_shown_is_short_and_printable(value: Any) -> None:
    text = shown(value)
    assert text.isprintable()
    assert len(text) <= 600
