"""A diff as text: a table for people, Markdown, and `fse.diff/1`."""

import json
from importlib import resources
from typing import Any

import pytest

from examples.check import Example, examples
from fse_core import Target
from fse_core.diff import Diff, Step, diff
from fse_core.output import Style, find, names
from fse_core.read.source import read_model
from fse_core.report import Failure, Report
from fse_core.upgrade import upgrade
from tests.output.reports import UNDECIDED, finding, layer, report, separate
from tests.output.schemas import validator

VALIDATOR = validator("diff")


def on(vllm: str, *layers: Any, **more: Any) -> Report:
    return report(*layers, **{"target": Target(vllm=vllm, tp=8).as_dict(), **more})


def no(index: int) -> Any:
    return layer(index, separate(f"not at model.layers.{index}.mlp"))


OLD = on("0.1.0", layer(3), layer(4), layer(5, separate("why")), findings=(finding(message="It was odd."),))
NEW = on(
    "0.3.0", no(3), no(4), layer(5, separate("why")), verdict="separate", findings=(finding(message="It is | odd."),)
)
STEPS = (Step(vllm="0.2.0", sentences=("One thing changed.", "And another.")), Step(vllm="0.3.0", sentences=()))
WORSE = diff(OLD, NEW, steps=STEPS)
STOPS = diff(
    NEW,
    on("0.1.0", layer(3, UNDECIDED), verdict="fails", startup_error=Failure(type="E", message="one\ntwo"),
       startup_part="target"),
    steps=STEPS[:1], back=True,
)  # fmt: skip


def written(what: Diff, format: str = "table", style: Style | None = None) -> str:
    return find(format, "diff").render([what], style or Style())


def test_the_formats() -> None:
    assert names("diff") == ["json", "markdown", "table"]
    assert all(find(name, "diff").summary for name in names("diff"))


def test_a_table() -> None:
    assert (
        written(WORSE)
        == """\
org/model at main, commit c0ffee
  model   DeepseekV3ForCausalLM, 61 layers
  target  vLLM 0.1.0 to 0.3.0, gfx942, tp 8

  layers 3-4 (2)  no longer fused
      0.1.0  fused, 1 slot, aiter
      0.3.0  separate
             not at model.layers.3.mlp
      (each layer with its own number)
  layer 5         not fused, as before

  new warning: FSE101 shared-expert-excluded, layers 3-60
      It is | odd.
  gone warning: FSE101 shared-expert-excluded, layers 3-60
      It was odd.

  the answer changes with these releases; what they changed:
      0.2.0   One thing changed.
              And another.
      0.3.0   nothing is known that it changed about fusion itself

worse: vLLM 0.1.0 fuses: 2 of 3 MoE layers; vLLM 0.3.0 does not fuse: 0 of 3 MoE layers
"""
    )


def test_markdown() -> None:
    assert (
        written(WORSE, "markdown")
        == """\
### org/model at main, commit c0ffee

DeepseekV3ForCausalLM, 61 layers; vLLM 0.1.0 to 0.3.0, gfx942, tp 8.

**worse: vLLM 0.1.0 fuses: 2 of 3 MoE layers; vLLM 0.3.0 does not fuse: 0 of 3 MoE layers**

| layers | change | 0.1.0 | 0.3.0 |
| --- | --- | --- | --- |
| layers 3-4 (2) | no longer fused | fused, 1 slot, aiter | separate: `not at model.layers.3.mlp` |
| layer 5 | not fused, as before | separate: `why` | separate: `why` |

Where the words name a layer, each layer has its own number.

- new warning FSE101 shared-expert-excluded, layers 3-60: It is \\| odd.
- gone warning FSE101 shared-expert-excluded, layers 3-60: It was odd.

The answer changes with these releases; what they changed:

- 0.2.0: One thing changed.
- 0.2.0: And another.
- 0.3.0: nothing is known that it changed about fusion itself
"""
    )


def test_what_aborts_the_start_comes_first_and_going_back_is_said() -> None:
    text = written(STOPS)
    assert "\n\n  0.1.0 does not start: E: one\n      two\n\n  layer 3  the start now ends before" in text
    assert "the answer changes without these releases; what they had changed:\n      0.2.0   One thing" in text
    assert "no such layer" in text
    assert text.endswith("worse: vLLM 0.3.0 does not fuse: 0 of 3 MoE layers; vLLM 0.1.0 does not start: E\n")
    assert "- 0.1.0 does not start: E: one two\n" in written(STOPS, "markdown")


def test_undecided_says_why() -> None:
    unknown = on("0.1.0", verdict="undecided", undecided_reason="who knows")
    text = written(diff(unknown, NEW))
    assert "  0.1.0 undecided: who knows\n" in text
    assert text.splitlines()[-1].startswith("undecided: vLLM 0.1.0 undecided; vLLM 0.3.0 does not fuse")


def test_the_same_is_short() -> None:
    text = written(diff(OLD, on("0.2.0", *OLD.layers, findings=OLD.findings)))
    assert text.splitlines()[-1] == "the same: vLLM 0.2.0 fuses: 2 of 3 MoE layers"
    assert "the answer changes" not in text


def test_not_requested_is_said() -> None:
    reason = "VLLM_ROCM_USE_AITER is not on"
    quiet = on("0.2.0", layer(3, separate(None)), verdict="separate", requested=False, requested_reason=reason)
    assert f"0.2.0 fusion is not requested: {reason}" in written(diff(OLD, quiet))


def test_two_targets_on_one_release_are_both_told() -> None:
    other = report(*OLD.layers, target=Target(vllm="0.1.0", tp=4).as_dict())
    text = written(diff(OLD, other))
    assert "target  vLLM 0.1.0, gfx942, tp 8; then vLLM 0.1.0, gfx942, tp 4" in text


def test_colours_and_width() -> None:
    assert "\x1b[31mno longer fused\x1b[0m" in written(WORSE, style=Style(color=True))
    assert max(map(len, written(WORSE, style=Style(width=60)).splitlines())) <= 60


@pytest.mark.parametrize("format", ["table", "markdown"])
def test_what_a_config_says_cannot_break_out(format: str) -> None:
    evil = on("0.3.0", layer(3, separate("a|b\x1b[31m\n# head")), verdict="separate")
    text = written(diff(OLD, evil), format)
    assert "\x1b" not in text
    assert "\n# head" not in text


def test_the_schema_holds_what_is_written() -> None:
    schema = json.loads(resources.files("fse_core").joinpath("schema/diff-1.schema.json").read_text("utf-8"))
    for what in (WORSE, STOPS):
        whole = json.loads(written(what, "json"))
        VALIDATOR.validate(whole)
        assert list(whole) == list(schema["properties"])
        assert set(whole["layers"][0]) == set(schema["$defs"]["change"]["properties"])
        assert set(whole["old"]) == set(schema["$defs"]["side"]["properties"])
    assert whole["layers"][-1]["new"] is None


@pytest.mark.parametrize(
    "change",
    [{"schema": "fse.diff/2"}, {"outcome": "fine"}, {"appeared": [{"rule": 1}]}, {"layers": [{}]}, {"back": "no"}],
)
def test_the_schema_refuses_what_must_not_be(change: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(json.loads(written(WORSE, "json")) | change)


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_every_example_keeps_to_the_schema(example: Example) -> None:
    found = upgrade(read_model(str(example.folder)), example.target, "0.28.0", "0.33.0")
    text = written(found, "json")
    VALIDATOR.validate(json.loads(text))
    assert text.isascii()
    indices = [(change.part, index) for change in found.changes for index in change.indices]
    assert len(indices) == len(set(indices)) == len(found.new.layers)
