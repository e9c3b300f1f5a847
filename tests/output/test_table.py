"""The table: one line for each answer, the release's words as they are, and nothing that a terminal obeys."""

import re

import pytest

from examples.check import Example, examples
from fse_core.output import Style, find, names
from fse_core.report import Confidence, Failure, Report, Source
from fse_core.target import Target
from tests.output.reports import FUSED, UNDECIDED, failed, finding, layer, report, separate

IGNORED = "FP8 ignores routed and shared experts inconsistently at model.layers.{}.mlp.shared_experts"


def table(*reports: Report, width: int | None = None, color: bool = False) -> list[str]:
    text = find("table").render(reports, Style(width=width, color=color))
    assert text.endswith("\n")
    return text.splitlines()


def test_formats_are_found_by_their_files() -> None:
    assert {"json", "table"} <= set(names())
    assert all(find(name).summary for name in names())


def test_a_whole_one() -> None:
    layers = (*(layer(index) for index in range(3, 61)), layer(61, part="draft"))
    assert table(report(*layers)) == [
        "org/model at main, commit c0ffee",
        "  model   DeepseekV3ForCausalLM, 61 layers, Fp8Config",
        "  target  vLLM 0.33.0, gfx942, tp 8",
        "",
        "  layers 3-60 (58)  fused, 1 slot, aiter",
        "  draft layer 61    fused, 1 slot, aiter",
        "",
        "fuses: 58 of 58 MoE layers and 1 of 1 draft layer on gfx942 at tp 8 with vLLM 0.33.0",
    ]


def test_layers_whose_reasons_differ_in_their_number_alone_share_a_line() -> None:
    lines = table(report(*(layer(i, separate(IGNORED.format(i))) for i in range(92)), verdict="separate"))
    assert [line for line in lines if "layer" in line and "(92)" in line] == ["  layers 0-91 (92)  separate"]
    assert f"      {IGNORED.format(0)}" in lines
    assert "      (each layer with its own number)" in lines
    assert len(lines) < 12


def test_a_reason_that_names_another_layer_is_another_reason() -> None:
    lines = table(report(layer(1, separate("x.9.y")), layer(2, separate("x.8.y")), verdict="separate"))
    assert [line for line in lines if "separate" in line] == ["  layer 1  separate", "  layer 2  separate"]


def test_slots_and_modes_tell_fused_layers_apart() -> None:
    lines = table(report(layer(1), layer(2, slots=2), layer(3, mode="mega_moe")))
    assert "  layer 2  fused, 2 slots, aiter" in lines
    assert "  layer 3  fused, 1 slot, mega_moe" in lines


@pytest.mark.parametrize(
    ("indices", "shown"),
    [
        ([5], "layer 5 "),
        ([5, 6], "layers 5-6 (2)"),
        ([1, 3, 5, 7, 9], "layers 1-9 by 2 (5)"),
        ([1, 3, 5], "layers 1, 3, 5 (3)"),
        ([0, 1, 2, 9, 10, 40], "layers 0-2, 9-10, 40 (6)"),
        ([7, 3, 4], "layers 3-4, 7 (3)"),
    ],
)
def test_layer_numbers(indices: list[int], shown: str) -> None:
    assert any(line.startswith(f"  {shown}") for line in table(report(*map(layer, indices))))


def test_no_reason_is_said_to_be_none() -> None:
    assert "      (the release gives no reason)" in table(report(layer(1, separate(None)), verdict="separate"))


def test_what_a_layer_raises() -> None:
    lines = table(report(layer(3, failed("ValueError", "some but not all")), layer(4, UNDECIDED), verdict="fails"))
    assert "  layer 3  error" in lines
    assert "      ValueError: some but not all" in lines
    assert "  layer 4  undecided" in lines
    assert lines[-1] == "does not start: ValueError on gfx942 at tp 8 with vLLM 0.33.0"


def test_what_aborts_the_start() -> None:
    error = Failure(type="NotImplementedError", message="found 57 enabled and 1 disabled layers")
    lines = table(report(layer(3), startup_error=error, startup_part="target", verdict="fails"))
    assert "  vLLM 0.33.0 does not start:" in lines
    assert "      NotImplementedError: found 57 enabled and 1 disabled layers" in lines
    assert lines[-1].startswith("does not start: NotImplementedError on")


def test_an_error_of_several_lines_keeps_them() -> None:
    lines = table(report(layer(3, failed("ValidationError", "1 error\n\n  what it is")), verdict="fails"))
    at = lines.index("      ValidationError: 1 error")
    assert [line.rstrip() for line in lines[at + 1 : at + 3]] == ["", "        what it is"]


def test_what_aborts_the_draft_alone() -> None:
    error = Failure(type="ValueError", message="no")
    lines = table(report(layer(3), startup_error=error, startup_part="draft"))
    assert "  vLLM 0.33.0 does not start with its draft:" in lines
    assert lines[-1].startswith("fuses: 1 of 1 MoE layer on")


def test_undecided_says_why_and_claims_nothing() -> None:
    lines = table(report(verdict="undecided", undecided_reason="the architecture X is not known", quantization=None))
    assert "      the architecture X is not known" in lines
    assert lines[-1] == "undecided: nothing is claimed about this model"
    assert "fuses" not in " ".join(lines)
    assert "not quantized" not in " ".join(lines)


def test_not_applicable_and_breaks() -> None:
    assert table(report(verdict="not_applicable"))[-1].startswith("not applicable: no layer has shared experts")
    assert table(report(layer(1), verdict="breaks"))[-1].startswith("breaks: 1 of 1 MoE layer would be fused, and")


def test_not_requested() -> None:
    made = report(layer(1, separate(None)), verdict="separate", requested=False, requested_reason="X is not on")
    assert "  fusion is not requested: X is not on" in table(made)


def test_findings_with_their_fixes() -> None:
    lines = table(report(layer(3), findings=(finding(),)))
    assert "  warning FSE101 shared-expert-excluded, layers 3-60" in lines
    assert "      The checkpoint keeps its shared experts in bf16." in lines
    assert "      quantization_config.exclude[4]" in lines
    assert "      fix (changes-numerics): quantize them while loading" in lines


def test_every_option_that_was_chosen_is_shown() -> None:
    target = Target(
        vllm="0.33.0", gfx="gfx950", tp=4, ep=True, dp=2, pcp=3, pp=5, moe_backend="aiter", all2all_backend="mori_x",
        eplb=True, dbo=True, environment={"A": "1"}, overlay={"targets": {"*": "mxfp4"}}, draft=False,
    )  # fmt: skip
    line = next(line for line in table(report(target=target.as_dict())) if line.startswith("  target"))
    assert line == (
        "  target  vLLM 0.33.0, gfx950, tp 4, dp 2, pcp 3, pp 5, expert parallelism, EPLB, DBO, MoE backend aiter, "
        'all2all backend mori_x, A=1, quantization config {"targets": {"*": "mxfp4"}}, no draft'
    )


def test_sources() -> None:
    assert table(report(source=Source(kind="path", id="a/config.json")))[0] == "a/config.json"
    assert table(report(source=Source(kind="inline", id="stdin")))[0] == "standard input"
    pinned = Source(kind="hub", id="org/model", revision="c0ffee", commit="c0ffee")
    assert table(report(source=pinned))[0] == "org/model at c0ffee"


def test_lines_fit_the_terminal_and_names_stay_whole() -> None:
    made = report(*(layer(i, separate(IGNORED.format(i))) for i in range(92)), verdict="separate")
    lines = table(made, width=60)
    name = "model.layers.0.mlp.shared_experts"
    assert all(len(line) <= 60 for line in lines)
    assert sum(name in line for line in lines) == 1
    assert " ".join(" ".join(lines).split()).endswith("on gfx942 at tp 8 with vLLM 0.33.0")


def test_a_narrow_terminal_cuts_no_name() -> None:
    assert any("shared_experts" in line for line in table(report(layer(1, separate(IGNORED.format(1)))), width=10))


def test_colors_only_where_wanted_and_the_text_is_the_same() -> None:
    made = report(layer(3, FUSED), layer(4, separate("r")), layer(5, failed("E", "m")), findings=(finding(),))
    plain, colored = "\n".join(table(made)), "\n".join(table(made, color=True))
    assert plain.isascii()
    assert "\x1b" not in plain
    assert "\x1b[32m" in colored
    assert re.sub(r"\x1b\[\d+m", "", colored) == plain


def test_nothing_from_a_config_reaches_the_terminal_as_a_command() -> None:
    made = report(layer(1, separate("\x1b[2J\r\n\x9b1m\u202e")), architecture="\x1b]0;x\x07", verdict="separate")
    text = "\n".join(table(made))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    assert r"\x1b[2J\r\n\x9b1m\u202e" in text


def test_several_reports_stand_apart() -> None:
    lines = table(report(), report(verdict="not_applicable"))
    assert lines.count("org/model at main, commit c0ffee") == 2
    assert lines[lines.index("org/model at main, commit c0ffee", 1) - 1] == ""


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_no_example_takes_a_line_for_each_layer(example: Example) -> None:
    assert len(table(example.check())) < 20


@pytest.mark.parametrize("confidence", ["certain", "likely"])
def test_what_may_go_wrong_is_no_plain_fuses(confidence: Confidence) -> None:
    doubt = finding(severity="error", confidence=confidence, consequence="load_fails", part="draft", layers="61")
    lines = table(report(layer(3), layer(61, part="draft"), findings=(doubt,)))
    assert lines[-1].startswith("fuses, at risk: 1 of 1 MoE layer")
    (title,) = (line for line in lines if doubt.rule in line)
    assert (", likely" in title) is (confidence == "likely")
