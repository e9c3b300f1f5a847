"""FSE102: tensors in another format than the config says. Measured on 0.24.0 to 0.33.0 with such checkpoints."""

from typing import Any

import pytest

from tests.models import FP8_BLOCK, FP8_TENSOR, MXFP8, QUARK_MXFP4
from tests.rules.cases import of, only, shared
from tests.rules.stored import Stored, blocks, breaking, found, mxfp4, mxfp8, one_scale, plain, tensors, unscaled

RULE = "FSE102"
LISTED = {**FP8_BLOCK, "ignored_layers": shared(3, 4)}


@pytest.mark.parametrize(
    ("block", "routed", "stored", "consequence"),
    [
        (FP8_BLOCK, blocks, plain, "silent_corruption"),
        (MXFP8, mxfp8, plain, "silent_corruption"),
        (QUARK_MXFP4, mxfp4, plain, "load_fails"),
        (QUARK_MXFP4, mxfp4, mxfp8, "load_fails"),
        (None, plain, blocks, "load_fails"),
    ],
)
def test_a_shared_expert_in_another_format(
    block: dict[str, Any] | None, routed: Stored, stored: Stored, consequence: str
) -> None:
    report = found(tensors(routed, stored), block)
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("breaks", consequence, "certain")
    assert (finding.layers, finding.severity) == ("3-4", "error")
    first = "model.safetensors: model.layers.3.mlp.shared_experts.gate_proj.weight"
    assert finding.evidence[0].startswith(first)


def test_what_stays_unset_is_counted() -> None:
    finding = only(found(tensors(blocks, plain), FP8_BLOCK), RULE)
    assert finding.message == (
        "Layers 3-4 (2): the shared expert's gate weight is BF16 [256, 256], and its slot has F8_E4M3 [256, 256] with "
        "weight_scale_inv F32 [2, 2]. Loading raises nothing, and leaves 32 of 288 bytes of w13_weight_scale_inv and "
        "16 of 144 bytes of w2_weight_scale_inv as they were in memory."
    )
    assert finding.evidence[1:] == (
        "w13_weight_scale_inv: 32 of 288 bytes unset",
        "w2_weight_scale_inv: 16 of 144 bytes unset",
    )


def test_the_remedy_lists_the_shared_expert() -> None:
    block = {**FP8_BLOCK, "ignored_layers": ["lm_head"]}
    (fix,) = only(found(tensors(blocks, plain), block), RULE).fixes
    assert fix.patch == {"quantization_config": {"ignored_layers": ["lm_head", *shared(3, 4)]}}
    assert breaking(found(tensors(blocks, plain), {**block, **fix.patch["quantization_config"]})) == []


def test_routed_experts_that_were_never_quantized() -> None:
    routed, other = of(found(tensors(plain, plain), FP8_BLOCK), RULE)
    assert "the routed experts' gate weight is BF16 [256, 256]" in routed.message
    assert "the shared expert's gate weight is BF16 [256, 256]" in other.message


def test_a_module_of_its_own_that_does_not_fit() -> None:
    report = found(tensors(blocks, blocks), LISTED)
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("separate", "load_fails", "certain")
    assert "and its module has BF16 [256, 256]. Loading ends in a KeyError." in finding.message


def test_a_module_of_its_own_whose_scales_stay_unset() -> None:
    block = {**FP8_BLOCK, "weight_block_size": None}
    finding = only(found(tensors(one_scale(), plain), block), RULE)
    assert finding.evidence[1:] == (
        "gate_up_proj.weight_scale: 8 of 8 bytes unset",
        "down_proj.weight_scale: 4 of 4 bytes unset",
    )


@pytest.mark.parametrize(
    ("block", "routed", "stored", "version"),
    [
        (FP8_BLOCK, blocks, blocks, "0.33.0"),
        (FP8_BLOCK, blocks, blocks, "0.28.0"),
        (LISTED, blocks, plain, "0.33.0"),
        (LISTED, blocks, blocks, "0.28.0"),
        (QUARK_MXFP4, mxfp4, mxfp4, "0.33.0"),
        (QUARK_MXFP4, mxfp4, mxfp4, "0.28.0"),
        ({**QUARK_MXFP4, "exclude": ["re:.*shared_experts.*"]}, mxfp4, plain, "0.33.0"),
        (MXFP8, mxfp8, mxfp8, "0.33.0"),
        (None, plain, plain, "0.33.0"),
        (None, plain, unscaled, "0.33.0"),
    ],
)
def test_what_fits_is_left_alone(block: dict[str, Any] | None, routed: Stored, stored: Stored, version: str) -> None:
    assert of(found(tensors(routed, stored), block, vllm=version), RULE) == []


def test_a_sample_shows_what_is_likely() -> None:
    finding = only(found(tensors(blocks, plain), FP8_BLOCK, complete=False), RULE)
    assert (finding.confidence, finding.consequence) == ("likely", "silent_corruption")


def test_releases_whose_loading_is_not_known_are_left_alone() -> None:
    assert breaking(found(tensors(blocks, plain), FP8_BLOCK, vllm="0.22.0")) == []


def test_one_scale_for_experts_made_for_another() -> None:
    block = {**QUARK_MXFP4, "global_quant_config": FP8_TENSOR}
    assert only(found(tensors(one_scale(1), plain), block), RULE).consequence == "silent_corruption"
