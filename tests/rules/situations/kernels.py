"""FSE127 and FSE137: what AITER's kernels make of the experts that they are given."""

from typing import Any

from tests.models import FP8_BLOCK, QUARK_MXFP4
from tests.rules.cases import QWEN3_5, R1, shared
from tests.rules.situations import Situation

MX: dict[str, Any] = {"gfx": "gfx950", "draft": False}
KIMI_K2 = {**R1, "n_routed_experts": 384}
QWEN3_8 = {**QWEN3_5, "hidden_size": 8192, "moe_intermediate_size": 2048, "shared_expert_intermediate_size": 2048}
GLM_5_3: dict[str, Any] = {
    "architectures": ["Glm5NextForCausalLM"],
    "model_type": "glm5_next",
    "num_hidden_layers": 4,
    "first_k_dense_replace": 3,
    "n_routed_experts": 288,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "hidden_size": 4096,
    "moe_intermediate_size": 2048,
    "swiglu_limit": 10.0,
}
HY3: dict[str, Any] = {
    "architectures": ["HYV3ForCausalLM"],
    "model_type": "hy_v3",
    "num_hidden_layers": 3,
    "first_k_dense_replace": 1,
    "num_experts": 192,
    "num_shared_experts": 1,
    "num_experts_per_tok": 8,
    "hidden_size": 4096,
    "moe_intermediate_size": 1536,
}
V4: dict[str, Any] = {
    "architectures": ["DeepseekV4ForCausalLM"],
    "model_type": "deepseek_v4",
    "num_hidden_layers": 3,
    "num_hash_layers": 1,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "num_experts_per_tok": 6,
    "hidden_size": 256,
    "moe_intermediate_size": 256,
    "swiglu_limit": 10.0,
    "hidden_act": "silu",
}
V4_FP8 = {**V4, "expert_dtype": "fp8"}
PER_TENSOR: dict[str, Any] = {"quant_method": "fp8", "activation_scheme": "static"}
ONLINE = {"targets": {"*shared_expert*": "mxfp4"}}


def _tuned(name: str, block: dict[str, Any] | None, config: dict[str, Any], **more: Any) -> Situation:
    return Situation(rule="FSE127", name=name, block=block, config=config, **more)


def _silent(name: str, block: dict[str, Any] | None, config: dict[str, Any], **target: Any) -> Situation:
    return _tuned(name, block, config, target={"draft": False, **target}, silent=True)


def _clamp(name: str, block: dict[str, Any] | None, config: dict[str, Any], **more: Any) -> Situation:
    return Situation(rule="FSE137", name=name, block=block, config=config, **more)


SITUATIONS = [
    _tuned(
        "the shape with fusion has rows, and so has the one without",
        FP8_BLOCK,
        R1,
        target={**MX, "tp": 8},
        words=("257 experts, 9 chosen, 7168 x 256, per_1x128", "AITER has tuned rows"),
        consequence="none",
        confidence="likely",
    ),
    _tuned(
        "Kimi-K2 in MXFP4",
        QUARK_MXFP4,
        KIMI_K2,
        target={**MX, "tp": 4},
        words=("385 experts, 9 chosen, 7168 x 512, per_1x32",),
    ),
    _tuned(
        "MXFP4 before 0.32.0 is padded to more",
        QUARK_MXFP4,
        R1,
        target={**MX, "tp": 16, "vllm": "0.31.0"},
        words=("7168 x 256",),
    ),
    _tuned(
        "rows for the shape without fusion alone",
        QUARK_MXFP4,
        QWEN3_5,
        target={**MX, "tp": 4},
        words=("513 experts, 11 chosen, 4096 x 256", "512 experts and 10 chosen", "measure both"),
        consequence="slower",
    ),
    _tuned(
        "a shared expert that is quantized while it loads",
        {**QUARK_MXFP4, "exclude": shared(0, 1, 2, 3, name="shared_expert")},
        QWEN3_8,
        target={**MX, "tp": 8, "overlay": ONLINE},
        words=("513 experts, 11 chosen, 8192 x 256",),
    ),
    _tuned(
        "GLM-5.3-Flash is fused into a shape that has rows",
        FP8_BLOCK,
        GLM_5_3,
        target={**MX, "tp": 8},
        words=("289 experts, 9 chosen, 4096 x 256",),
        consequence="none",
    ),
    _tuned(
        "GLM-5.3-Flash without fusion has a shape that was reported to fault",
        FP8_BLOCK,
        GLM_5_3,
        target={**MX, "tp": 8, "environment": {"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS": "0"}},
        words=("288 experts, 8 chosen", "faults on the GPU"),
        fix="VLLM_ROCM_USE_AITER_MOE",
        consequence="start_fails",
    ),
    _tuned(
        "Hy3 with one scale a tensor",
        PER_TENSOR,
        HY3,
        target={"tp": 4, "draft": False},
        words=("192 experts, 8 chosen, 4096 x 384, per_Tensor", "RuntimeError"),
    ),
    _silent("a width of which no table tells", FP8_BLOCK, R1, gfx="gfx950", tp=1),
    _silent("a GPU of which no table tells of this shape", FP8_BLOCK, R1, gfx="gfx942", tp=8),
    _silent("experts are split over the GPUs", FP8_BLOCK, R1, gfx="gfx950", tp=8, ep=True),
    _silent("several replicas share the experts", FP8_BLOCK, R1, gfx="gfx950", tp=4, dp=2),
    _silent("another backend", FP8_BLOCK, R1, gfx="gfx950", tp=8, moe_backend="triton"),
    _silent("the GPUs do not divide an expert", FP8_BLOCK, R1, gfx="gfx950", tp=3),
    _silent("no width", FP8_BLOCK, {k: v for k, v in R1.items() if k != "moe_intermediate_size"}, gfx="gfx950", tp=8),
    _silent("no number of chosen experts", FP8_BLOCK, {**R1, "num_experts_per_tok": None}, gfx="gfx950", tp=8),
    _silent("blocks of another size", {**FP8_BLOCK, "weight_block_size": [128, 64]}, R1, gfx="gfx950", tp=8),
    _silent("16-bit experts", None, R1, gfx="gfx950", tp=8),
    _silent("float16", FP8_BLOCK, {**R1, "torch_dtype": "float16"}, gfx="gfx950", tp=8),
    _silent("another activation", FP8_BLOCK, {**R1, "hidden_act": "gelu"}, gfx="gfx950", tp=8),
    _silent("MXFP4 that the GPU emulates", QUARK_MXFP4, R1, gfx="gfx942", tp=8),
    _silent("it is not fused", {**FP8_BLOCK, "ignored_layers": shared(3, 4)}, R1, gfx="gfx950", tp=8),
    _silent(
        "it is fused and does not load",
        {**QUARK_MXFP4, "exclude": ["re:.*shared_experts.*"]},
        R1,
        gfx="gfx950",
        tp=8,
        vllm="0.28.0",
    ),
    _silent(
        "other kernels run the shape that faults",
        FP8_BLOCK,
        GLM_5_3,
        gfx="gfx950",
        tp=8,
        environment={"VLLM_ROCM_USE_AITER_MOE": "0"},
    ),
    _silent("Hy3 in blocks", FP8_BLOCK, HY3, tp=4),
    # FSE137
    _clamp(
        "16-bit experts before AITER was told",
        None,
        V4,
        target={"vllm": "0.29.0", "draft": False},
        words=("clamped to 10", "vLLM 0.29.0 does not hand it to AITER"),
        fix="VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS",
        consequence="silent_corruption",
        confidence="likely",
        layers="0-2",
    ),
    _clamp(
        "MXFP4 on gfx950 before AITER was told",
        QUARK_MXFP4,
        V4,
        target={"vllm": "0.28.0", "gfx": "gfx950", "draft": False},
        words=("vLLM 0.28.0 does not hand it to AITER",),
        fix="0.31.0",
    ),
    _clamp(
        "16-bit experts on gfx942",
        None,
        V4,
        target={"draft": False},
        words=("AITER's kernels for gfx942 were reported not to keep it",),
    ),
    _clamp(
        "FP8 experts on gfx942",
        FP8_BLOCK,
        V4_FP8,
        target={"vllm": "0.31.0", "draft": False},
        words=("loses it too once it is fused",),
    ),
    _clamp("AITER keeps it on gfx950", None, V4, target={"gfx": "gfx950", "draft": False}, silent=True),
    _clamp("MXFP4 on gfx942 is not AITER's", QUARK_MXFP4, V4, target={"vllm": "0.28.0", "draft": False}, silent=True),
    _clamp(
        "an endless clamp",
        None,
        {**V4, "swiglu_limit": float("inf")},
        target={"vllm": "0.29.0", "draft": False},
        silent=True,
    ),
    _clamp("no clamp", None, {**V4, "swiglu_limit": 0}, target={"vllm": "0.29.0", "draft": False}, silent=True),
    _clamp(
        "Triton's kernels clamp",
        None,
        V4,
        target={"vllm": "0.29.0", "moe_backend": "triton", "draft": False},
        silent=True,
    ),
    _clamp(
        "AITER's MoE is off",
        None,
        V4,
        target={"environment": {"VLLM_ROCM_USE_AITER_MOE": "0"}, "draft": False},
        silent=True,
    ),
    _clamp("a class that does not read it", FP8_BLOCK, {**R1, "swiglu_limit": 10.0}, target={"tp": 8}, silent=True),
    _clamp("nothing is fused", FP8_BLOCK, V4_FP8, target={"vllm": "0.29.0", "draft": False}, silent=True),
]
