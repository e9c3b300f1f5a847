"""DeepSeek-V4 and V4.1: layers, drafts, and the three ways in which their class fuses."""

from typing import Any

import pytest

from tests.families.parts import lines, parts

ALONE = "model.layers.*.ffn.shared_experts"
WRAPPED = "language_model.model.layers.*.ffn.shared_experts"
FP8: dict[str, Any] = {
    "quant_method": "fp8",
    "activation_scheme": "dynamic",
    "weight_block_size": [128, 128],
    "scale_fmt": "ue8m0",
}
V4: dict[str, Any] = {
    "architectures": ["DeepseekV4ForCausalLM"],
    "model_type": "deepseek_v4",
    "num_hidden_layers": 3,
    "quantization_config": FP8,
}
PRO: dict[str, Any] = {
    **V4,
    "n_routed_experts": 384,
    "num_experts_per_tok": 6,
    "n_shared_experts": 1,
    "hidden_size": 7168,
    "moe_intermediate_size": 3072,
    "expert_dtype": "fp4",
    "topk_method": "noaux_tc",
}
V41: dict[str, Any] = {
    "architectures": ["DeepseekV41ForCausalLM"],
    "model_type": "deepseek_v41",
    "text_config": {"num_hidden_layers": 3, "n_shared_experts": 1},
    "quantization_config": FP8,
}
HETEROGENEOUS: dict[str, Any] = {"gfx": "gfx950", "tp": 8, "moe_backend": "aiter"}
MEGA: dict[str, Any] = {
    "gfx": "gfx950",
    "ep": True,
    "moe_backend": "aiter_mega_moe",
    "all2all_backend": "mori_high_throughput",
}
FUSION = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (V4, [f"DeepseekV4ForCausalLM: {ALONE} [0, 1, 2] x1", f"DeepSeekV4MTP: {ALONE} [3] x1"]),
        (
            {**V4, "n_shared_experts": 2, "num_nextn_predict_layers": 2},
            [f"DeepseekV4ForCausalLM: {ALONE} [0, 1, 2] x2", f"DeepSeekV4MTP: {ALONE} [3, 4] x2"],
        ),
        ({**V4, "n_shared_experts": 0}, ["DeepseekV4ForCausalLM: no layers"]),
        (
            {**V4, "vision_n_layers": 2},
            [f"DeepseekV4ForConditionalGeneration: {WRAPPED} [0, 1, 2] x1", f"DeepSeekV4MTP: {ALONE} [3] x1"],
        ),
        (
            {**V4, "architectures": ["DeepseekV4ForConditionalGeneration"], "num_nextn_predict_layers": 0},
            [f"DeepseekV4ForConditionalGeneration: {WRAPPED} [0, 1, 2] x1"],
        ),
        (V41, [f"DeepseekV41ForCausalLM: {WRAPPED} [0, 1, 2] x1"]),
        ({**V41, "num_hidden_layers": 1}, [f"DeepseekV41ForCausalLM: {WRAPPED} [0] x1"]),
    ],
)
def test_layers_and_drafts(config: dict[str, Any], expected: list[str]) -> None:
    assert lines(config) == expected


def test_the_ordinary_way() -> None:
    part, draft = parts(V4)
    assert [(p.mode, p.request, p.backend, p.asks) for p in (part, draft)] == [("aiter", "environment", None, True)] * 2
    assert (part.one_answer, draft.one_answer, parts(V41)[0].one_answer) == (True, False, False)
    assert part.packed == draft.packed == {"gate_up_proj": ("w1", "w3")}
    assert [p.asks for p in parts(V4, ep=True)] == [False, False]


@pytest.mark.parametrize("config", [V4, V41])
@pytest.mark.parametrize(
    ("target", "raises"),
    [
        ({"dp": 2}, True),
        ({"dp": 2, "ep": True}, False),
        ({"dp": 2, "environment": {FUSION: "0"}}, False),
        ({"dp": 2, "moe_backend": "aiter_mega_moe"}, True),
        ({"dp": 1}, False),
    ],
)
def test_data_parallelism(config: dict[str, Any], target: dict[str, Any], raises: bool) -> None:
    startup = parts(config, **target)[0].startup
    assert (startup is not None) == raises
    if startup is not None:
        assert startup.type == "ValueError"
        assert startup.message.startswith(f"DeepSeek-V4 fused shared experts ({FUSION}=1) are not supported with data")


def test_v41_has_no_prefill_context_parallelism() -> None:
    startup = parts(V41, pcp=2)[0].startup
    assert startup is not None
    assert (startup.type, startup.message) == (
        "NotImplementedError",
        "DeepSeek-V4.1 PCP currently supports NVIDIA CUDA only.",
    )


def test_the_heterogeneous_way_is_the_targets_alone() -> None:
    part, draft = parts(PRO, **HETEROGENEOUS)
    assert (part.mode, part.always, part.asks, part.request, part.one_answer) == (
        "heterogeneous",
        True,
        True,
        "aiter",
        False,
    )
    assert (draft.mode, draft.always) == ("aiter", False)


@pytest.mark.parametrize(
    "target",
    [
        {"gfx": "gfx942"},
        {"tp": 4},
        {"ep": True},
        {"eplb": True},
        {"pcp": 2},
        {"moe_backend": "auto"},
        {"environment": {FUSION: "0"}},
        {"environment": {"VLLM_ROCM_USE_AITER": "0"}},
        {"environment": {"VLLM_ROCM_USE_AITER_MOE": "0"}},
    ],
)
def test_targets_that_are_not_heterogeneous(target: dict[str, Any]) -> None:
    assert parts(PRO, **{**HETEROGENEOUS, **target})[0].mode == "aiter"


@pytest.mark.parametrize(
    "change",
    [
        {"hidden_size": 4096},
        {"expert_dtype": None},
        {"topk_method": None},
        {"n_shared_experts": 2},
        {"dtype": "float16"},
        {"quantization_config": None},
        {"quantization_config": {**FP8, "weight_block_size": [64, 128]}},
        {"quantization_config": {**FP8, "moe_quant_algo": "nvfp4"}},
        {"quantization_config": {**FP8, "ignored_layers": ["head"]}},
        {"quantization_config": {**FP8, "modules_to_not_convert": ["head"]}},
        {"quantization_config": {**FP8, "quant_method": "quark"}},
        {"model_type": "deepseek_v4_other"},
    ],
)
def test_models_that_are_not_heterogeneous(change: dict[str, Any]) -> None:
    assert parts({**PRO, **change}, **HETEROGENEOUS)[0].mode == "aiter"


def test_mega_moe() -> None:
    part, draft = parts(V4, **MEGA)
    for p in (part, draft):
        assert (p.mode, p.request, p.backend, p.asks) == ("mega_moe", "aiter", "aiter_mega_moe", True)
        assert (p.one_answer, p.gated, p.on_layer, p.on_fused) == (False, False, None, None)
    assert not parts({**V4, "n_shared_experts": 2}, **MEGA)[0].asks


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (
            {"environment": {"VLLM_ROCM_USE_AITER_MOE": "0"}},
            "ValueError: --moe-backend aiter_mega_moe requires VLLM_ROCM_USE_AITER=1  and VLLM_ROCM_USE_AITER_MOE=1.",
        ),
        (
            {"gfx": "gfx90a"},
            "ValueError: --moe-backend aiter_mega_moe requires VLLM_ROCM_USE_AITER=1  and VLLM_ROCM_USE_AITER_MOE=1.",
        ),
        ({"gfx": "gfx942"}, "NotImplementedError: AITER MegaMoE requires gfx950."),
        *(
            (
                change,
                "NotImplementedError: AITER MegaMoE requires data parallel attention with expert parallel MoE: "
                "--data-parallel-size N --enable-expert-parallel with TP=1 and PP=1.",
            )
            for change in ({"ep": False}, {"tp": 2}, {"pp": 2})
        ),
        (
            {"all2all_backend": None},
            "ValueError: AITER MegaMoE runs on MoRI shmem; add --all2all-backend mori_high_throughput.",
        ),
        ({"eplb": True}, "NotImplementedError: AITER MegaMoE does not support EPLB."),
    ],
)
def test_targets_that_mega_moe_refuses(change: dict[str, Any], error: str) -> None:
    failure = parts(V4, **{**MEGA, **change})[0].on_layer
    assert failure is not None
    assert f"{failure.type}: {failure.message}" == error


@pytest.mark.parametrize(
    "config",
    [{**V4, "expert_dtype": "fp8"}, {**V41, "quantization_config": {**FP8, "expert_dtype": "fp8"}}],
)
def test_mega_moe_takes_fp4_alone(config: dict[str, Any]) -> None:
    failure = parts(config, **MEGA)[0].on_layer
    assert failure is not None
    assert failure.message == "AITER MegaMoE only supports fp4 experts."


def test_mega_moe_demands_a_quantization() -> None:
    bare = {**V4, "quantization_config": None}
    on_fused = parts(bare, **MEGA)[0].on_fused
    assert on_fused is not None
    assert (on_fused.type, on_fused.message) == ("AssertionError", "")
    assert parts(bare, **MEGA, overlay={"targets": {}})[0].on_fused is None
