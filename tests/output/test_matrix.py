"""A matrix as text: a table for people, Markdown, and `fse.matrix/1`."""

import json
from importlib import resources
from typing import Any

import pytest

from examples.check import Example, examples
from fse_core import Target
from fse_core.matrix import Answer, Matrix, matrix
from fse_core.output import Style, find, names
from fse_core.read.source import model_from_dict, read_model
from fse_core.report import Failure, Report
from fse_core.sweep import sweep
from tests.models import DEEPSEEK
from tests.output.reports import finding, layer, report, separate
from tests.output.schemas import validator

VALIDATOR = validator("matrix")
KNOWN = ("0.1.0", "0.2.0", "0.3.0", "0.4.0")


def on(vllm: str, *layers: Any, **more: Any) -> Report:
    return report(*layers, **{"target": Target(vllm=vllm, tp=8).as_dict(), **more})


def made(*reports: Report, gpus: tuple[str, ...] = ("gfx942", "gfx950")) -> Matrix:
    answers = [
        Answer(vllm=one.target["vllm"], answered_by=one.target["vllm"], gfx=gfx, report=one)
        for one in reports
        for gfx in gpus
    ]
    return matrix(answers, KNOWN)


SEVERAL = made(
    on("0.1.0", verdict="undecided", undecided_reason="vLLM 0.1.0 has no class of its own for the architecture A"),
    on("0.2.0", layer(3), layer(4), findings=(finding(severity="error", message="It breaks."),)),
    on("0.3.0", *(layer(index, separate(f"at model.layers.{index}.mlp")) for index in (3, 4)), verdict="separate"),
    on("0.4.0", verdict="fails", startup_error=Failure(type="E", message="one\ntwo"), startup_part="target"),
)


def written(what: Matrix, format: str = "table", style: Style | None = None) -> str:
    return find(format, "matrix").render([what], style or Style())


def test_the_formats() -> None:
    assert names("matrix") == ["json", "markdown", "table"]
    assert all(find(name, "matrix").summary for name in names("matrix"))


def test_a_table() -> None:
    assert (
        written(SEVERAL)
        == """\
org/model at main, commit c0ffee
  model   DeepseekV3ForCausalLM, 61 layers
  target  tp 8

  vLLM    gfx942      gfx950
  0.1.0   -           -
  0.2.0   y! [1]      y! [1]
  0.3.0   n [2]       n [2]
  0.4.0   fails [3]   fails [3]

  gfx942, gfx950  not there in 0.1.0; fuses, and something may go wrong, in 0.2.0; does not fuse in 0.3.0; \
does not start in 0.4.0

  [1]  FSE101 shared-expert-excluded: It breaks.
  [2]  layers 3-4: at model.layers.3.mlp (each layer with its own number)
  [3]  E: one
       two

y!: fuses, and something may go wrong; n: does not fuse; fails: does not start; -: not in this release
"""
    )


def test_markdown() -> None:
    assert (
        written(SEVERAL, "markdown")
        == """\
### org/model at main, commit c0ffee

DeepseekV3ForCausalLM, 61 layers; served with tp 8.

| vLLM | gfx942 | gfx950 |
| --- | --- | --- |
| 0.1.0 | - | - |
| 0.2.0 | y! (1) | y! (1) |
| 0.3.0 | n (2) | n (2) |
| 0.4.0 | fails (3) | fails (3) |

- gfx942, gfx950: not there in 0.1.0; fuses, and something may go wrong, in 0.2.0; does not fuse in 0.3.0; \
does not start in 0.4.0

1. FSE101 shared-expert-excluded: It breaks.
2. layers 3-4: `at model.layers.3.mlp` (each layer with its own number)
3. `E: one two`

**y!** fuses, and something may go wrong; **n** does not fuse; **fails** does not start; **-** not in this release.
"""
    )


def test_releases_that_look_the_same_share_a_row_but_not_in_json() -> None:
    what = made(*(on(vllm, layer(3)) for vllm in KNOWN))
    for name in ("table", "markdown"):
        assert "0.1.0 to 0.4.0" in written(what, name)
        assert "0.2.0" not in written(what, name)
        assert "fuses since 0.1.0" in written(what, name)
    assert [row["vllm"] for row in json.loads(written(what, "json"))["releases"]] == list(KNOWN)


def test_gpus_that_differ_have_a_line_each() -> None:
    fuses, not_ = on("0.4.0", layer(3)), on("0.4.0", layer(3, separate(None)), verdict="separate")
    answers = [
        Answer(vllm="0.4.0", answered_by="0.4.0", gfx=gfx, report=one)
        for gfx, one in (("gfx942", fuses), ("gfx950", not_))
    ]
    text = written(matrix(answers, KNOWN))
    assert "  gfx942  fuses in 0.4.0\n  gfx950  does not fuse in 0.4.0\n" in text


def test_a_release_that_another_answers_for_names_it() -> None:
    answers = [Answer(vllm="0.5.0", answered_by="0.4.0", gfx="gfx942", report=on("0.4.0", layer(3)))]
    assert "0.5.0 (as 0.4.0)" in written(matrix(answers, KNOWN))


def test_colours_do_not_move_the_columns() -> None:
    colored = written(SEVERAL, style=Style(color=True))
    assert "\x1b[31mfails\x1b[0m" in colored
    plain = colored
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"):
        plain = plain.replace(code, "")
    assert plain == written(SEVERAL)


def test_it_fits_the_width() -> None:
    assert max(map(len, written(SEVERAL, style=Style(width=60)).splitlines())) <= 60


@pytest.mark.parametrize("format", ["table", "markdown"])
def test_what_a_config_says_cannot_break_out(format: str) -> None:
    evil = "a|b`c`<script>\x1b[31m\n# head"
    what = made(on("0.1.0", layer(3, separate(evil)), verdict="separate", architecture=evil))
    text = written(what, format)
    assert "\x1b" not in text
    assert "\n# head" not in text
    if format == "markdown":
        assert r"a\|b\`c\`\<script\>\\x1b" in text  # the architecture, as words
        assert r"``a\|b`c`<script>\x1b[31m # head``" in text  # the reason, as code


def test_the_schema_holds_what_is_written() -> None:
    VALIDATOR.validate(json.loads(written(SEVERAL, "json")))
    schema = json.loads(resources.files("fse_core").joinpath("schema/matrix-1.schema.json").read_text("utf-8"))
    whole = json.loads(written(SEVERAL, "json"))
    assert list(whole) == list(schema["properties"])
    assert set(whole["releases"][1]["cells"]["gfx942"]) == set(schema["$defs"]["cell"]["properties"])
    assert set(whole["notes"][0]) == set(schema["$defs"]["note"]["properties"])
    assert set(whole["runs"]["gfx942"][0]) == set(schema["$defs"]["run"]["properties"])


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "fse.matrix/2"},
        {"gpus": []},
        {"releases": [{"vllm": "0.1.0", "answered_by": "0.1.0", "cells": {"gfx942": {"mark": "maybe"}}}]},
        {"notes": [{"number": 0}]},
    ],
)
def test_the_schema_refuses_what_must_not_be(change: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(json.loads(written(SEVERAL, "json")) | change)


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_every_example_keeps_to_the_schema_and_every_number_has_its_note(example: Example) -> None:
    whole = json.loads(written(sweep(read_model(str(example.folder)), example.target), "json"))
    VALIDATOR.validate(whole)
    used = {number for row in whole["releases"] for cell in row["cells"].values() for number in cell["notes"]}
    assert used == {note["number"] for note in whole["notes"]}


def test_one_is_an_object_and_several_are_a_list() -> None:
    several = find("json", "matrix").render([SEVERAL, SEVERAL], Style())
    assert [one["schema"] for one in json.loads(several)] == ["fse.matrix/1"] * 2
    assert several.isascii()
    table = find("table", "matrix").render([SEVERAL, SEVERAL], Style())
    assert table == f"{written(SEVERAL)}\n{written(SEVERAL)}"


def test_an_option_that_is_not_taken_is_a_note() -> None:
    text = written(sweep(model_from_dict(DEEPSEEK), Target(moe_backend="aiter"), ["0.11.1", "0.33.0"]))
    assert "0.11.1   - [1]" in text
    assert "[1]  this release does not take --moe-backend aiter" in text
