"""FSE115: an expert without the scale that its peers have. Measured on 0.24.0 to 0.33.0."""

from typing import Any

import pytest

from tests.models import FP8_BLOCK, MXFP8, QUARK_MXFP4
from tests.rules.cases import of, only
from tests.rules.stored import Stored, blocks, found, mxfp4, mxfp8, plain, tensors, unscaled, without

RULE = "FSE115"


@pytest.mark.parametrize(
    ("block", "stored", "leaf"),
    [(FP8_BLOCK, blocks, "weight_scale_inv"), (QUARK_MXFP4, mxfp4, "weight_scale"), (MXFP8, mxfp8, "weight_scale")],
)
@pytest.mark.parametrize("version", ["0.28.0", "0.33.0"])
def test_one_routed_expert(block: dict[str, Any], stored: Stored, leaf: str, version: str) -> None:
    entries = without(tensors(stored, stored), f"layers.4.mlp.experts.3.up_proj.{leaf}")
    report = found(entries, block, vllm=version)
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("breaks", "silent_corruption", "certain")
    assert finding.layers == "4"
    assert f"nothing is stored of routed expert 3's up {leaf}, for which the fused parameters have" in finding.message


def test_several_are_told_at_once() -> None:
    entries = without(tensors(blocks, blocks), "experts.1.down_proj.weight_scale", "experts.6.down_proj.weight_scale")
    finding = only(found(entries, FP8_BLOCK), RULE)
    assert "routed experts 1, 6's down weight_scale_inv" in finding.message
    assert finding.evidence == ("w2_weight_scale_inv: 32 of 144 bytes unset",)


def test_the_shared_expert() -> None:
    finding = only(found(tensors(blocks, unscaled), FP8_BLOCK), RULE)
    assert "nothing is stored of the shared expert's gate weight_scale_inv, for which its slot has" in finding.message
    assert finding.layers == "3-4"


@pytest.mark.parametrize(
    ("block", "routed", "stored"),
    [
        (FP8_BLOCK, blocks, blocks),
        (QUARK_MXFP4, mxfp4, mxfp4),
        (MXFP8, mxfp8, mxfp8),
        (None, plain, plain),
        (FP8_BLOCK, blocks, plain),
        (QUARK_MXFP4, mxfp4, plain),
        (FP8_BLOCK, plain, plain),
    ],
)
def test_complete_experts_and_those_of_another_format_are_left_alone(
    block: dict[str, Any] | None, routed: Stored, stored: Stored
) -> None:
    assert of(found(tensors(routed, stored), block), RULE) == []


def test_an_expert_that_is_not_there_at_all_is_another_matter() -> None:
    assert of(found(without(tensors(blocks, blocks), "experts.3."), FP8_BLOCK), RULE) == []
