"""A change to one list or object leaves every other character of the text as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fse_core.convert.jsontext import Item, items, locate, own, rewritten

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
INDENTS = st.sampled_from([None, 0, 1, 2, "\t"])


def at(text: str, *path: str) -> int:
    start = locate(text, path)
    assert start is not None
    return start


@given(st.lists(VALUES, max_size=5), INDENTS, st.data())
def test_keeping_and_dropping(values: list[object], indent: int | str | None, data: st.DataObject) -> None:
    text = json.dumps({"before": [1, {"list": 2}], "list": values, "after": "]"}, indent=indent)
    start = at(text, "list")
    assert rewritten(text, start, lambda item: own(text, item)) == text
    kept = [data.draw(st.booleans()) for _ in values]
    keep = {item.start: keeps for item, keeps in zip(items(text, start), kept, strict=True)}
    changed = rewritten(text, start, lambda item: own(text, item) if keep[item.start] else ())
    expected = [value for value, keeps in zip(values, kept, strict=True) if keeps]
    assert changed == json.dumps({"before": [1, {"list": 2}], "list": expected, "after": "]"}, indent=indent)


@given(st.dictionaries(st.text(max_size=4), VALUES, min_size=1, max_size=4), INDENTS)
def test_an_object(members: dict[str, object], indent: int | str | None) -> None:
    text = json.dumps({"a": members}, indent=indent)
    gone = next(iter(members))
    changed = rewritten(text, at(text, "a"), lambda item: () if item.key == gone else own(text, item))
    assert changed == json.dumps({"a": {k: v for k, v in members.items() if k != gone}}, indent=indent)


def test_what_comes_in_is_laid_out_as_what_was_there() -> None:
    text = '{"a": [\n    "x" ,\n    "y"\n  ], "b": 1.0}'

    def change(item: Item) -> list[str]:
        return ['"p"', '"q"'] if item.value == "y" else list(own(text, item))

    assert rewritten(text, at(text, "a"), change) == '{"a": [\n    "x", \n    "p", \n    "q"\n  ], "b": 1.0}'


def test_first_in_an_empty_object() -> None:
    text = '{"a": {}}'
    assert rewritten(text, at(text, "a"), lambda item: own(text, item), ['"k": 1']) == '{"a": {"k": 1}}'


@pytest.mark.parametrize("path", [("b",), ("a", "b"), ("a", "c", "d"), ("s", "x")])
def test_no_such_path(path: tuple[str, ...]) -> None:
    assert locate('{"a": {"c": [1]}, "s": "{}"}', path) is None
