"""FSE114: scales that cannot be cut into slots. Measured on 0.24.0 to 0.33.0 where `certain`."""

from typing import Any

import pytest

from tests.models import DEEPSEEK, FP8_BLOCK, FP8_TENSOR, MXFP8, QUARK_MXFP4, asked
from tests.rules.cases import FP8_BY_ROW, FP8_ROWS, NVFP4, compressed, only

RULE = "FSE114"
TWO = {**DEEPSEEK, "n_shared_experts": 2}
QUARK_TENSOR = {**QUARK_MXFP4, "global_quant_config": FP8_TENSOR}
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
    assert (report.verdict, finding.confidence) == ("breaks", "certain")
    assert "2 slots" in finding.message


def test_one_scale_a_row_is_cut_along_the_wrong_axis() -> None:
    finding = only(asked(QUARK_ROWS, TWO, gfx="gfx950"), RULE)
    assert (finding.consequence, finding.confidence) == ("silent_corruption", "certain")


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
    assert (report.verdict, report.findings) == ("separate", ())
