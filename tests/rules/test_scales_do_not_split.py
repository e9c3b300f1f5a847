"""FSE114: scales that cannot be cut into slots. Measured on 0.24.0 to 0.33.0 where `certain`."""

from typing import Any

import pytest

from tests.models import DEEPSEEK, FP8_BLOCK, FP8_TENSOR, MXFP8, QUARK_MXFP4, asked
from tests.rules.cases import FP8_BY_ROW, FP8_ROWS, GLM_4_7_FLASH, NVFP4, compressed, of, only
from tests.rules.stored import (
    Stored,
    blocks,
    breaking,
    found,
    mxfp4,
    mxfp8,
    one_scale,
    plain,
    rows_in_a_column,
    rows_scaled,
    tensors,
)

RULE = "FSE114"
TWO = {**DEEPSEEK, "n_shared_experts": 2}
QUARK_TENSOR = {**QUARK_MXFP4, "global_quant_config": FP8_TENSOR}
QUARK_DYNAMIC = {
    **QUARK_MXFP4,
    "global_quant_config": {**FP8_TENSOR, "input_tensors": {**FP8_TENSOR["input_tensors"], "is_dynamic": True}},
}
QUARK_ROWS = {**QUARK_MXFP4, "global_quant_config": FP8_ROWS}


@pytest.mark.parametrize(
    ("block", "version"),
    [
        ({**FP8_BLOCK, "weight_block_size": None}, "0.28.0"),
        (NVFP4, "0.28.0"),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "0.24.0"),
        (QUARK_TENSOR, "0.28.0"),
        (QUARK_TENSOR, "0.33.0"),
    ],
)
def test_one_scale_a_tensor_is_likely_to_have_no_dimension(block: dict[str, Any], version: str) -> None:
    report = asked(block, vllm=version, gfx="gfx950")
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("fuses", "load_fails", "likely")
    assert (finding.layers, finding.severity) == ("3-4", "error")


def test_with_two_shared_experts_no_such_scale_can_be_cut() -> None:
    report = asked(QUARK_TENSOR, TWO, gfx="gfx950")
    finding = only(report, RULE)
    assert (finding.consequence, finding.confidence) == ("load_fails", "likely")
    assert "2 slots" in finding.message


@pytest.mark.parametrize(
    ("version", "consequence"),
    [
        ("0.15.1", "load_fails"),
        ("0.19.1", "load_fails"),
        ("0.20.0", "silent_corruption"),
        ("0.33.0", "silent_corruption"),
    ],
)
def test_one_scale_a_row_is_cut_along_the_wrong_axis(version: str, consequence: str) -> None:
    """Measured on these releases, as a list. As a column it fits no slot of any: the config alone is not sure."""
    finding = only(asked(QUARK_ROWS, TWO, gfx="gfx950", vllm=version), RULE)
    assert (finding.consequence, finding.confidence) == (consequence, "likely")


MEASURED = [
    (QUARK_TENSOR, DEEPSEEK, one_scale(), "load_fails"),
    (QUARK_TENSOR, TWO, one_scale(1), "load_fails"),
    (QUARK_ROWS, TWO, rows_scaled, "silent_corruption"),
    (QUARK_ROWS, TWO, rows_in_a_column, "load_fails"),
    (QUARK_ROWS, DEEPSEEK, rows_in_a_column, "load_fails"),
]


@pytest.mark.parametrize(("block", "config", "stored", "consequence"), MEASURED)
@pytest.mark.parametrize("version", ["0.24.0", "0.33.0"])
def test_the_headers_settle_it(
    block: dict[str, Any], config: dict[str, Any], stored: Stored, consequence: str, version: str
) -> None:
    wide = 256 * config["n_shared_experts"]
    report = found(tensors(stored, stored, wide=wide), block, config, vllm=version)
    told = of(report, RULE)
    assert report.verdict == "breaks"
    assert {(one.consequence, one.confidence) for one in told} == {(consequence, "certain")}


@pytest.mark.parametrize(
    ("block", "config", "stored"),
    [
        (QUARK_DYNAMIC, DEEPSEEK, one_scale(1)),
        (QUARK_ROWS, DEEPSEEK, rows_scaled),
        (FP8_BLOCK, TWO, blocks),
        (QUARK_MXFP4, TWO, mxfp4),
        (MXFP8, TWO, mxfp8),
        (None, TWO, plain),
    ],
)
@pytest.mark.parametrize("version", ["0.28.0", "0.33.0"])
def test_stored_scales_that_split_are_left_alone(
    block: dict[str, Any] | None, config: dict[str, Any], stored: Stored, version: str
) -> None:
    wide = 256 * config["n_shared_experts"]
    report = found(tensors(stored, stored, wide=wide), block, config, vllm=version)
    assert (report.verdict, of(report, RULE)) == ("fuses", [])


def test_a_class_that_does_not_look_at_the_dimensions() -> None:
    """It is known for that, which makes what else is wrong with its slots moot."""
    entries = tensors(rows_scaled, rows_scaled, layers=(1, 2, 3, 4))
    report = found(entries, QUARK_ROWS, GLM_4_7_FLASH)
    assert [(one.rule, one.consequence) for one in report.findings] == [("FSE150", "load_fails")]


@pytest.mark.parametrize(
    ("block", "config", "version"),
    [
        (FP8_BLOCK, TWO, "0.33.0"),
        (QUARK_MXFP4, TWO, "0.33.0"),
        (MXFP8, TWO, "0.33.0"),
        (QUARK_ROWS, DEEPSEEK, "0.33.0"),
        (compressed(FP8_BY_ROW, "float-quantized"), DEEPSEEK, "0.28.0"),
        (None, TWO, "0.33.0"),
    ],
)
def test_scales_that_split_are_left_alone(block: dict[str, Any] | None, config: dict[str, Any], version: str) -> None:
    report = asked(block, config, vllm=version, gfx="gfx950")
    assert (report.verdict, report.findings) == ("fuses", ())


def test_what_the_gate_refuses_is_left_alone() -> None:
    report = asked({**FP8_BLOCK, "weight_block_size": None}, TWO)
    assert (report.verdict, breaking(report)) == ("separate", [])
