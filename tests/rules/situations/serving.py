"""FSE106, FSE107, FSE113 and FSE119: options, sizes and methods."""

from typing import Any

from tests.models import DEEPSEEK, FP8_BLOCK, MXFP4, QUARK_MXFP4
from tests.models import MXFP8 as MODELOPT_MXFP8
from tests.rules.cases import AWQ, GLM_4_7, INT4, NVFP4, QWEN3_NEXT, compressed, shared
from tests.rules.situations import Situation

MOE = "VLLM_ROCM_USE_AITER_MOE"
FUSION = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"
OFF = {"environment": {FUSION: "0"}}
TP8: dict[str, Any] = {"tp": 8, "draft": False}
MX: dict[str, Any] = {"gfx": "gfx950", "draft": False}
W640 = {**DEEPSEEK, "moe_intermediate_size": 640}
FLASH_NEXT: dict[str, Any] = {
    **QWEN3_NEXT,
    "architectures": ["Qwen4ExpForCausalLM"],
    "model_type": "qwen4_exp",
    "moe_intermediate_size": 640,
    "shared_expert_intermediate_size": 640,
}
QWEN_80B = {**QWEN3_NEXT, "num_experts": 512}
NARROW = {**QWEN3_NEXT, "moe_intermediate_size": 1024, "shared_expert_intermediate_size": 1024}
APART = {**FP8_BLOCK, "modules_to_not_convert": shared(3, 4)}
W4A16 = {**QUARK_MXFP4, "global_quant_config": {**MXFP4, "input_tensors": None}}
MINIMAX_M3: dict[str, Any] = {
    "architectures": ["MiniMaxM3SparseForCausalLM"],
    "model_type": "minimax_m3",
    "num_hidden_layers": 3,
    "num_local_experts": 8,
    "n_shared_experts": 1,
    "hidden_size": 256,
    "intermediate_size": 256,
}

SITUATIONS = [
    # FSE106: expert parallelism
    Situation(
        rule="FSE106",
        name="GLM-4.x with split experts",
        block=FP8_BLOCK,
        config=GLM_4_7,
        target={**TP8, "ep": True},
        words=("Layers 3-4 (2)", "split over 8 GPUs"),
        fix=FUSION,
        consequence="silent_corruption",
        confidence="likely",
    ),
    Situation(rule="FSE106", name="tensor parallelism alone", block=FP8_BLOCK, config=GLM_4_7, target=TP8, silent=True),
    Situation(
        rule="FSE106", name="one GPU", block=FP8_BLOCK, config=GLM_4_7, target={"ep": True, "draft": False}, silent=True
    ),
    Situation(
        rule="FSE106",
        name="a class that switches fusion off itself",
        block=None,
        config=MINIMAX_M3,
        target={**TP8, "ep": True},
        silent=True,
    ),
    Situation(
        rule="FSE106",
        name="fusion is off",
        block=FP8_BLOCK,
        config=GLM_4_7,
        target={**TP8, "ep": True, **OFF},
        silent=True,
    ),
    # FSE107: widths of MXFP4
    Situation(
        rule="FSE107",
        name="1024 rows at tp 8, as Qwen3.5-397B-A17B has",
        block=QUARK_MXFP4,
        config=NARROW,
        target={**MX, "tp": 8},
        words=("each GPU has 128 of an expert's 1024 rows", "tp 1, 2, 4"),
        fix='{"--tp": 4}',
        consequence="silent_corruption",
        confidence="likely",
    ),
    Situation(
        rule="FSE107",
        name="3072 rows at tp 8",
        block=QUARK_MXFP4,
        config={**NARROW, "moe_intermediate_size": 3072, "shared_expert_intermediate_size": 3072},
        target={**MX, "tp": 8},
        words=("each GPU has 384",),
        fix='{"--tp": 4}',
    ),
    Situation(
        rule="FSE107",
        name="a release that pads to 256",
        block=QUARK_MXFP4,
        config=NARROW,
        target={**MX, "tp": 8, "vllm": "0.31.0"},
        silent=True,
    ),
    Situation(
        rule="FSE107",
        name="a share of 256",
        block=QUARK_MXFP4,
        config=NARROW,
        target={**MX, "tp": 4},
        silent=True,
    ),
    Situation(
        rule="FSE107",
        name="16-bit activations",
        block=W4A16,
        config=NARROW,
        target={**MX, "tp": 8},
        silent=True,
    ),
    Situation(
        rule="FSE107",
        name="experts that stay whole",
        block=QUARK_MXFP4,
        config=NARROW,
        target={**MX, "tp": 8, "ep": True},
        silent=True,
    ),
    # FSE113: blocks
    Situation(
        rule="FSE113",
        name="Qwen3.8-Flash-Next-FP8 at tp 8",
        block=FP8_BLOCK,
        config=FLASH_NEXT,
        target=TP8,
        words=("each GPU has 80 of the 640 rows of a routed expert", "tp 1, 5 would do, or expert parallelism"),
        fix='{"--ep": true}',
        consequence="start_fails",
        confidence="certain",
        layers="0-3",
    ),
    Situation(
        rule="FSE113",
        name="Qwen3-Next-80B-FP8 at tp 8",
        block=FP8_BLOCK,
        config=QWEN_80B,
        target=TP8,
        words=("each GPU has 64 of the 512 rows", "tp 1, 2, 4 would do"),
        fix='{"--tp": 4}',
        consequence="start_fails",
    ),
    Situation(
        rule="FSE113",
        name="split experts do not help a shared expert that is not fused",
        block=FP8_BLOCK,
        config=QWEN_80B,
        target={**TP8, "ep": True, **OFF},
        words=("of a shared expert, which is not fused,", "tp 1, 2, 4 would do."),
        fix='{"--tp": 4}',
        consequence="start_fails",
    ),
    Situation(
        rule="FSE113",
        name="one shared expert of 640 with AITER's MoE off",
        block=FP8_BLOCK,
        config=W640,
        target={"tp": 2, "draft": False, "environment": {MOE: "0"}},
        words=("of a shared expert, which is not fused,",),
    ),
    Situation(
        rule="FSE113",
        name="split experts and a fused shared one",
        block=FP8_BLOCK,
        config=QWEN_80B,
        target={**TP8, "ep": True},
        silent=True,
    ),
    Situation(
        rule="FSE113",
        name="split experts and a shared one in 16 bits",
        block=APART,
        config=W640,
        target={**TP8, "ep": True},
        silent=True,
    ),
    Situation(
        rule="FSE113",
        name="DeepSeek-R1's 2048 at tp 8",
        block=FP8_BLOCK,
        config={**DEEPSEEK, "moe_intermediate_size": 2048},
        target=TP8,
        silent=True,
    ),
    Situation(
        rule="FSE113",
        name="12 blocks at tp 8",
        block=FP8_BLOCK,
        config={**DEEPSEEK, "moe_intermediate_size": 1536},
        target=TP8,
        words=("tp 1, 2, 3, 4, 6, 12 would do",),
        fix='{"--tp": 4}',
    ),
    Situation(
        rule="FSE113",
        name="12 blocks and 64 attention heads",
        block=FP8_BLOCK,
        config={**DEEPSEEK, "moe_intermediate_size": 1536, "num_attention_heads": 64},
        target=TP8,
        words=(" tp 1, 2, 4 would do",),
    ),
    Situation(rule="FSE113", name="640 on one GPU", block=FP8_BLOCK, config=FLASH_NEXT, silent=True),
    Situation(rule="FSE113", name="not quantized", block=None, config=FLASH_NEXT, target=TP8, silent=True),
    # FSE119: methods
    Situation(
        rule="FSE119",
        name="NVFP4, routed and shared alike",
        block=NVFP4,
        config=DEEPSEEK,
        words=("no branch for ModelOptNvFp4Config, although routed and shared experts are both stored as NVFP4",),
        consequence="not_fused",
        confidence="certain",
        layers="3-4",
    ),
    Situation(
        rule="FSE119",
        name="INT4 of compressed-tensors, as in Kimi-K2.5",
        block=compressed(INT4, "pack-quantized", "re:.*shared_experts.*"),
        config=DEEPSEEK,
        words=("no branch for CompressedTensorsConfig",),
    ),
    Situation(
        rule="FSE119",
        name="FP8 with one scale a tensor",
        block={**FP8_BLOCK, "weight_block_size": None},
        config=DEEPSEEK,
        words=("only FP8 in blocks for Fp8Config",),
    ),
    Situation(
        rule="FSE119",
        name="MXFP8 of ModelOpt between the gate and its branch, as MiniMax-M3-MXFP8 was lost",
        block=MODELOPT_MXFP8,
        config=DEEPSEEK,
        target={"vllm": "0.32.0"},
        words=("no branch for ModelOptMxFp8Config",),
        fix='{"vllm": "0.33.0"}',
    ),
    Situation(rule="FSE119", name="AWQ", block=AWQ, config=DEEPSEEK, words=("no branch for AutoAWQConfig",)),
    Situation(rule="FSE119", name="FP8 in blocks", block=FP8_BLOCK, config=DEEPSEEK, silent=True),
    Situation(rule="FSE119", name="MXFP8 since it has a branch", block=MODELOPT_MXFP8, config=DEEPSEEK, silent=True),
    Situation(
        rule="FSE119", name="before the gate", block=NVFP4, config=DEEPSEEK, target={"vllm": "0.28.0"}, silent=True
    ),
    Situation(rule="FSE119", name="listed, which is another reason", block=APART, config=DEEPSEEK, silent=True),
]
