"""How a release's file builds on the one before it."""

import pytest

from fse_core.releases.inherit import EMPTY, on_top

FIRST = {"changes": ["a."], "wired": {"add": ["B", "A"]}, "words": {"x": "1", "y": "2"}, "gate": {"branches": ["Q"]}}


def test_a_file_adds_and_removes() -> None:
    first = on_top(None, FIRST)
    second = on_top(
        first,
        {
            "inherits": "1.0.0",
            "changes": ["b."],
            "wired": {"add": ["C"], "remove": ["A"]},
            "words": {"x": "3", "remove": ["y"]},
        },
    )
    assert first["wired"] == {"classes": ["A", "B"]}
    assert second["wired"] == {"classes": ["B", "C"]}
    assert second["words"] == {"x": "3"}
    assert second["gate"]["branches"] == ["Q"]
    assert (second["changes"], second["inherits"]) == (["b."], "1.0.0")
    assert EMPTY["wired"] == {"classes": []}


def test_what_is_stated_whole_replaces_what_was() -> None:
    first = on_top(None, {"quantization": {"methods": {"a": "A", "b": "B"}}})
    second = on_top(first, {"quantization": {"methods": {"b": "B", "a": "A"}}})
    assert list(second["quantization"]["methods"]) == ["b", "a"]


@pytest.mark.parametrize(
    "delta",
    [{"wired": {"remove": ["Z"]}}, {"wired": {"add": ["A"]}}, {"words": {"remove": ["z"]}}],
)
def test_a_change_that_changes_nothing_is_a_mistake(delta: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"wired|words"):
        on_top(on_top(None, FIRST), delta)
