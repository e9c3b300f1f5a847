"""Where values stand in a JSON document, and how one is changed without touching the rest."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fse_core.read.edit import edited
from fse_core.read.positions import line_and_column, spans

VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=25,
)
OBJECTS = st.dictionaries(st.text(max_size=6), VALUES, max_size=4)


def follow(document: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


@given(OBJECTS, st.sampled_from([None, 1, 4, "\t"]), st.booleans())
def test_each_span_holds_the_value_that_its_pointer_names(document: Any, indent: Any, ascii_alone: bool) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_alone)
    found = list(spans(text))
    assert json.loads(text[found[-1].value : found[-1].end]) == document
    for span in found:
        assert json.loads(text[span.value : span.end]) == follow(document, span.pointer)
    assert len({span.pointer for span in found}) == len(found)


def test_paths_are_those_of_errors_and_evidence() -> None:
    text = '{"a": {"model.layers.*": [1, {"b": 2}]}}'
    paths = {span.path: text[span.start : span.end] for span in spans(text)}
    assert paths['a["model.layers.*"][1].b'] == '"b": 2'
    assert paths['a["model.layers.*"][0]'] == "1"
    assert {span.path for span in spans(text, "hf_quant_config.json:")} >= {"hf_quant_config.json: a"}


def test_lines_and_columns_count_characters_from_one() -> None:
    text = '{\n  "\u00e9": [\n    "x"\n  ]\n}'
    assert [line_and_column(text, span.start) for span in spans(text)] == [(3, 5), (2, 3), (1, 1)]


CONFIG = """{
    "rms": 1e-06,
    "quantization_config": {
        "ignored_layers": ["lm_head"],
        "empty": {}
    },
    "last": [1,   2]
}
"""


def test_what_is_not_changed_stays_as_it_was_written() -> None:
    changed = edited(CONFIG, {"quantization_config": {"ignored_layers": ["a", "b"]}})
    assert changed == CONFIG.replace('["lm_head"]', '[\n            "a",\n            "b"\n        ]')


def test_new_keys_come_last_where_they_belong() -> None:
    changed = edited(CONFIG, {"new": 1, "quantization_config": {"more": {"x": None}, "empty": {"y": 1}}})
    whole = json.loads(changed)
    assert list(whole) == ["rms", "quantization_config", "last", "new"]
    assert whole["quantization_config"] == {"ignored_layers": ["lm_head"], "empty": {"y": 1}, "more": {"x": None}}
    assert '\n        "empty": {\n            "y": 1\n        },\n        "more": {' in changed
    assert '"last": [1,   2],\n    "new": 1\n}' in changed


@pytest.mark.parametrize("text", ["{}", '{"a": 1}', '{"a": {}}', '{"a": [1]}'])
def test_a_document_on_one_line_stays_on_one(text: str) -> None:
    changed = edited(text, {"a": {"b": [1, 2]}, "c": "d"})
    assert json.loads(changed) == {"a": {"b": [1, 2]}, "c": "d"}
    assert "\n" not in changed


def test_line_ends_stay_what_they_are() -> None:
    changed = edited(CONFIG.replace("\n", "\r\n"), {"new": [1]})
    assert "\n" not in changed.replace("\r\n", "")


def merged(old: Any, new: Any) -> Any:
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}


@given(OBJECTS, OBJECTS, st.sampled_from([None, 2]))
def test_a_patch_is_merged(document: Any, patch: Any, indent: Any) -> None:
    assert json.loads(edited(json.dumps(document, indent=indent), patch)) == merged(document, patch)
