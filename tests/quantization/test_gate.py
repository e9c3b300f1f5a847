"""The gate's answers for one layer, each as vLLM 0.33.0 gives it."""

from typing import Any

import pytest

from tests.models import EXPERTS, FP8_BLOCK, FP8_TENSOR, MXFP4, MXFP8, QUARK_MXFP4, SHARED, asked, first_words

IGNORES = f"FP8 ignores routed and shared experts inconsistently at {SHARED}"
EXCLUDES = f"Quark excludes shared experts at {SHARED}"
DIFFERS = f"Quark uses different quantization configurations for routed and shared experts at {SHARED}"
MXFP8_EXCLUDES = f"MXFP8 excludes routed and shared experts inconsistently at {SHARED}"
SOME_SHARDS = (
    f"ValueError: Detected some but not all shards of {SHARED}.gate_up_proj are quantized. "
    "All shards of fused layers to have the same precision."
)
DIFFERENT_SHARDS = (
    f"ValueError: Found different quantization schemes for the shards of {SHARED}.gate_up_proj. "
    "vLLM requires all to use the same scheme."
)
PROJECTIONS = [f"{SHARED}.{name}" for name in ("gate_proj", "up_proj", "down_proj")]


def fp8(*ignored: str, **more: Any) -> dict[str, Any]:
    return {**FP8_BLOCK, "ignored_layers": list(ignored), **more}


def quark(*excluded: str, **layers: Any) -> dict[str, Any]:
    return {**QUARK_MXFP4, "exclude": list(excluded), "layer_quant_config": layers.get("layers", {})}


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (None, "fused"),
        (fp8(), "fused"),
        (fp8(SHARED), "fused"),
        (fp8("shared_experts"), "fused"),
        (fp8("model.layers.3.mlp.gate"), "fused"),
        (fp8(*PROJECTIONS), IGNORES),
        (fp8(f"{SHARED}.gate_proj"), SOME_SHARDS),
        (fp8(f"{SHARED}.gate_up_proj", f"{SHARED}.down_proj"), IGNORES),
        (fp8(f"{SHARED}.down_proj"), IGNORES),
        (fp8(f"{EXPERTS}.0.gate_proj"), IGNORES),
        (fp8(f"{EXPERTS}.0.gate_proj", *PROJECTIONS), "fused"),
        (fp8(weight_block_size=None), "FP8 shared-expert FSE is only implemented for block-quantized checkpoints"),
        (
            fp8(store_dtype="mxfp4"),
            f"FP8 stores routed experts as mxfp4, which is not supported for fused shared experts at {SHARED}",
        ),
        ({**FP8_BLOCK, "modules_to_not_convert": PROJECTIONS}, IGNORES),
    ],
)
def test_fp8(block: dict[str, Any] | None, words: str) -> None:
    assert first_words(asked(block)) == words


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (quark(), "fused"),
        (quark(SHARED), "fused"),
        (quark("*shared_experts*"), "fused"),
        (quark("re:.*shared_experts.*"), EXCLUDES),
        (quark(f"{SHARED}.down_proj"), EXCLUDES),
        (quark(f"{SHARED}.gate_proj"), DIFFERENT_SHARDS),
        (quark(EXPERTS), "fused"),
        (quark(layers={"*experts*": FP8_TENSOR}), "fused"),
        (quark(layers={"*mlp.experts*": FP8_TENSOR}), DIFFERS),
        (quark(layers={"*.experts.*": FP8_TENSOR}), "fused"),
        (quark(layers={f"{EXPERTS}.0.gate_proj": FP8_TENSOR}), DIFFERS),
        (quark(layers={SHARED: FP8_TENSOR}), "fused"),
        (quark(layers={"re:.*shared_experts.*": FP8_TENSOR}), "fused"),
        (quark(layers={"*shared_experts*": {}}), "fused"),
        (quark(layers={"*shared_experts*": {**MXFP4, "group": None}}), DIFFERS),
        (quark(layers={"*down_proj": FP8_TENSOR}), DIFFERS),
    ],
)
def test_quark(block: dict[str, Any], words: str) -> None:
    assert first_words(asked(block)) == words


@pytest.mark.parametrize(
    ("ignore", "words"),
    [
        ([], "fused"),
        (["*shared_experts*"], MXFP8_EXCLUDES),
        (["shared_experts"], MXFP8_EXCLUDES),
        (["model.layers.3.mlp*"], "fused"),
        ([f"{SHARED}.gate_proj"], SOME_SHARDS),
    ],
)
def test_modelopt_mxfp8(ignore: list[str], words: str) -> None:
    assert first_words(asked({**MXFP8, "ignore": ignore})) == words
    flat = {"quant_method": "mxfp8", "ignored_layers": ignore}
    assert first_words(asked(flat)) == words


@pytest.mark.parametrize(
    ("block", "class_name"),
    [
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "ModelOptFp8Config"),
        ({"quant_method": "modelopt", "quant_algo": "FP8_PB_WO"}, "ModelOptFp8Config"),
        ({"quant_method": "modelopt", "quant_algo": "nvfp4"}, "ModelOptNvFp4Config"),
        (
            {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": {}}},
            "ModelOptMixedPrecisionConfig",
        ),
        ({"quant_method": "compressed_tensors", "config_groups": {}}, "CompressedTensorsConfig"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, "AutoAWQConfig"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True}, "AutoGPTQConfig"),
        ({"quant_method": "auto-round", "bits": 4, "group_size": 128}, "INCConfig"),
        ({"quant_method": "mxfp4"}, "Mxfp4Config"),
    ],
)
def test_a_class_without_a_branch_is_named(block: dict[str, Any], class_name: str) -> None:
    report = asked(block)
    assert report.quantization == class_name
    expected = f"shared-expert FSE quantization compatibility is not implemented for {class_name}"
    assert first_words(report) == expected


ONLINE = "online shared-expert quantization"


@pytest.mark.parametrize(
    ("block", "overlay", "words"),
    [
        (QUARK_MXFP4, {"targets": {"*shared_experts*": "mxfp4"}}, "fused"),
        (
            QUARK_MXFP4,
            {"targets": {"*shared_experts*": "mxfp8"}},
            f"{ONLINE} keys do not match the routed expert keys",
        ),
        (
            QUARK_MXFP4,
            {"targets": {"*shared_experts.down_proj": "mxfp4"}},
            f"online quantization targets only part of the shared expert at {SHARED}",
        ),
        (
            {**QUARK_MXFP4, "global_quant_config": FP8_TENSOR},
            {"targets": {"*shared_experts*": "mxfp4"}},
            f"{ONLINE} is not supported for routed expert weight key "
            "QuantKey(f8e4m3fnuz,scale(f32,static,per_tensor),symmetric)",
        ),
        (
            {**QUARK_MXFP4, "exclude": [f"{EXPERTS}.0.up_proj"]},
            {"targets": {"*shared_experts*": "mxfp4"}},
            f"{ONLINE} is not supported for routed expert weight key None",
        ),
        (
            FP8_BLOCK,
            {"targets": {"*shared_experts*": "mxfp4"}},
            "online quantization FSE compatibility check is not implemented for Fp8Config",
        ),
        (FP8_BLOCK, {"targets": {"*self_attn*": "mxfp4"}}, "fused"),
        (FP8_BLOCK, {"targets": {"*shared_experts*": "mxfp4"}, "ignore": ["*shared_experts.up_proj"]}, None),
        (
            QUARK_MXFP4,
            {"targets": {"*shared_experts.gate_proj": "mxfp4"}},
            f"ValueError: Found unmatched shards for {SHARED}.gate_up_proj: [{{'*shared_experts.gate_proj'}}, set()]. "
            "vLLM requires all shards of a fused layer to match a target.",
        ),
        (
            QUARK_MXFP4,
            {"targets": {"*shared_experts*": "int8_per_channel_weight_only"}},
            "ValueError: targets pattern *shared_experts* = int8_per_channel_weight_only does not define a QuantSpec "
            f"for LinearBase layers (matched at {SHARED}.gate_up_proj).",
        ),
        (None, {"targets": {"*shared_experts*": "mxfp4"}}, "fused"),
    ],
)
def test_the_overlay(block: dict[str, Any] | None, overlay: dict[str, Any], words: str | None) -> None:
    expected = words or DIFFERENT_SHARDS
    assert first_words(asked(block, overlay=overlay)) == expected


def test_the_words_for_a_key_follow_the_gpu() -> None:
    block = {**QUARK_MXFP4, "global_quant_config": FP8_TENSOR}
    overlay = {"targets": {"*shared_experts*": "mxfp4"}}
    words = first_words(asked(block, overlay=overlay, gfx="gfx950"))
    assert words is not None
    assert words.endswith("QuantKey(f8e4m3fn,scale(f32,static,per_tensor),symmetric)")
