"""FSE116: a scale under a name that has no parameter. Measured on 0.24.0 to 0.33.0."""

from typing import Any

import pytest

from tests.models import DEEPSEEK, FP8_BLOCK, FP8_TENSOR, MXFP8, QUARK_MXFP4
from tests.rules.cases import GLM_4_7, of, only
from tests.rules.stored import Stored, blocks, breaking, found, mxfp4, mxfp8, one_scale, plain, renamed, tensors

RULE = "FSE116"
OTHER_BLOCKS = renamed(blocks, "weight_scale_inv", "weight_scale")
OTHER_MXFP8 = renamed(mxfp8, "weight_scale", "weight_scale_inv")
MINIMAX: dict[str, Any] = {
    "architectures": ["MiniMaxM3SparseForCausalLM"],
    "model_type": "minimax_m3",
    "num_hidden_layers": 5,
    "moe_layer_freq": [0, 0, 0, 1, 1],
    "num_local_experts": 8,
    "n_shared_experts": 1,
    "hidden_size": 256,
    "intermediate_size": 256,
}


@pytest.mark.parametrize(
    ("block", "routed", "stored"), [(FP8_BLOCK, blocks, OTHER_BLOCKS), (MXFP8, mxfp8, OTHER_MXFP8)]
)
@pytest.mark.parametrize("config", [DEEPSEEK, GLM_4_7])
def test_the_shared_experts_scales(
    block: dict[str, Any], routed: Stored, stored: Stored, config: dict[str, Any]
) -> None:
    report = found(tensors(routed, stored), block, config)
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("breaks", "load_fails", "certain")
    assert "and its slot has no parameter that it goes to" in finding.message


def test_all_of_them() -> None:
    routed, shared = of(found(tensors(OTHER_MXFP8, OTHER_MXFP8), MXFP8), RULE)
    assert "the routed experts' gate weight_scale_inv is U8 [256, 8]" in routed.message
    assert "the shared expert's gate weight_scale_inv is U8 [256, 8]" in shared.message


def minimax(stored: Stored) -> dict[str, Any]:
    words = {"gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"}
    made = {}
    for name, entry in tensors(stored, stored).items():
        place = name.replace(".mlp.", ".block_sparse_moe.")
        for old, new in words.items() if ".experts." in name else ():
            place = place.replace(old, new)
        made[place] = entry
    return made


def test_a_class_that_passes_over_it_leaves_the_scales_unset() -> None:
    report = found(minimax(blocks), FP8_BLOCK, MINIMAX)
    assert report.verdict == "breaks"
    assert {finding.consequence for finding in of(report, RULE)} == {"silent_corruption"}


@pytest.mark.parametrize(
    ("block", "stored"),
    [
        (FP8_BLOCK, blocks),
        (MXFP8, mxfp8),
        (QUARK_MXFP4, mxfp4),
        ({**QUARK_MXFP4, "global_quant_config": {**FP8_TENSOR, "input_tensors": None}}, one_scale(1)),
        (None, plain),
    ],
)
def test_names_that_have_a_parameter_are_left_alone(block: dict[str, Any] | None, stored: Stored) -> None:
    assert of(found(tensors(stored, stored), block), RULE) == []


@pytest.mark.parametrize("stored", [mxfp8, OTHER_MXFP8])
def test_minimax_takes_both_names(stored: Stored) -> None:
    report = found(minimax(stored), MXFP8, MINIMAX)
    assert (report.verdict, breaking(report)) == ("fuses", [])


def test_a_shared_expert_of_another_format_is_another_matter() -> None:
    assert of(found(tensors(plain, blocks), None), RULE) == []
