"""FSE101, FSE108, FSE117 and FSE153: what people ran into with shared experts that are stored apart."""

from typing import Any

from tests.models import DEEPSEEK, FP8_BLOCK, MXFP4, QUARK_MXFP4
from tests.rules.cases import INT4, NVFP4, QWEN3_NEXT, compressed, shared
from tests.rules.situations import Situation

THEN: dict[str, Any] = {"vllm": "0.28.0", "gfx": "gfx950", "draft": False}
NOW: dict[str, Any] = {"gfx": "gfx950", "draft": False}
KIMI_K2_5: dict[str, Any] = {
    "architectures": ["KimiK25ForConditionalGeneration"],
    "model_type": "kimi_k25",
    "text_config": {**DEEPSEEK, "num_nextn_predict_layers": 0},
}
QWEN3_5: dict[str, Any] = {**QWEN3_NEXT, "architectures": ["Qwen3_5MoeForCausalLM"], "model_type": "qwen3_5_moe_text"}
EARLY = ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"]
LATE = ["lm_head", "re:.*self_attn.*"]
ONE_BY_ONE = shared(0, 1, 2, 3, name="shared_expert")


def quark(exclude: list[str], **more: Any) -> dict[str, Any]:
    return {**QUARK_MXFP4, "exclude": exclude, **more}


SITUATIONS = [
    Situation(
        rule="FSE101",
        name="Kimi-K2.5-MXFP4 at the revision that leaves the shared experts out",
        block=quark(EARLY),
        config=KIMI_K2_5,
        target=THEN,
        words=("16-bit numbers and the routed experts as MXFP4", "twice as wide"),
        fix='{"vllm": "0.29.0"}',
        consequence="load_fails",
        confidence="certain",
    ),
    Situation(
        rule="FSE101",
        name="Kimi-K2.5 in INT4 of compressed-tensors, which shares only the architecture",
        block=compressed(INT4, "pack-quantized", "re:.*shared_experts.*"),
        config=KIMI_K2_5,
        target=THEN,
        words=("the shared expert is stored as 16-bit numbers",),
        fix='{"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS": "0"}',
    ),
    Situation(
        rule="FSE153",
        name="Qwen3.5-397B-A17B-MXFP4, three projections of every layer listed",
        block=quark(ONE_BY_ONE),
        config=QWEN3_5,
        target=NOW,
        words=("Layers 0-3 (4)", "left in 16 bits", "would fuse in MXFP4"),
        fix='{"*shared_expert*": "mxfp4"}',
        consequence="not_fused",
        confidence="certain",
    ),
    Situation(
        rule="FSE153",
        name="Kimi-K2.5-MXFP4 at the revision that leaves the shared experts out",
        block=quark(EARLY),
        config=KIMI_K2_5,
        target=NOW,
        words=("not fused as stored",),
        fix='"requantize"',
    ),
    Situation(
        rule="FSE153",
        name="16-bit activations",
        block=quark(ONE_BY_ONE, global_quant_config={**MXFP4, "input_tensors": None}),
        config=QWEN3_5,
        target=NOW,
        silent=True,
    ),
    Situation(
        rule="FSE153", name="one layer of several", block=quark(shared(3)), config=DEEPSEEK, target=NOW, silent=True
    ),
    Situation(rule="FSE153", name="stored alike", block=quark(LATE), config=KIMI_K2_5, target=NOW, silent=True),
    Situation(
        rule="FSE153",
        name="FP8 in blocks",
        block={**FP8_BLOCK, "ignored_layers": shared(3, 4)},
        config=DEEPSEEK,
        target=NOW,
        silent=True,
    ),
    Situation(
        rule="FSE101",
        name="Qwen3.5-397B-A17B-NVFP4, unlike its smaller siblings",
        block={**NVFP4, "ignore": ["lm_head", "*.mlp.shared_expert.*"]},
        config=QWEN3_5,
        target=THEN,
        words=("routed experts as NVFP4",),
        consequence="load_fails",
    ),
    Situation(
        rule="FSE101",
        name="the draft of DeepSeek-R1-0528-MXFP4-v2 alone",
        block=quark(shared(5)),
        config=DEEPSEEK,
        target={**THEN, "draft": True},
        words=("Draft layer 5",),
        part="draft",
        layers="5",
    ),
    Situation(
        rule="FSE101",
        name="Kimi-K2.5-MXFP4 at the later revision",
        block=quark(LATE),
        config=KIMI_K2_5,
        target=THEN,
        silent=True,
    ),
    Situation(
        rule="FSE101",
        name="the smaller siblings in NVFP4",
        block=NVFP4,
        config=QWEN3_5,
        target=THEN,
        silent=True,
    ),
    Situation(
        rule="FSE101",
        name="the shared expert's gate, which is no part of it",
        block=quark([f"model.layers.{layer}.mlp.shared_expert_gate" for layer in range(4)]),
        config=QWEN3_5,
        target=THEN,
        silent=True,
    ),
    Situation(
        rule="FSE101",
        name="a release that asks",
        block=quark(EARLY),
        config=KIMI_K2_5,
        target={"gfx": "gfx950"},
        silent=True,
    ),
    Situation(
        rule="FSE108",
        name="the draft's routed experts, listed leaf by leaf, as in GLM-5.2-MXFP4",
        block=quark(
            [f"model.layers.5.mlp.experts.{i}.{leaf}_proj" for i in range(8) for leaf in ("gate", "up", "down")]
        ),
        config=DEEPSEEK,
        target={"gfx": "gfx950"},
        words=("Draft layer 5",),
        consequence="load_fails",
        part="draft",
        layers="5",
    ),
    Situation(
        rule="FSE108",
        name="the same, without a draft",
        block=quark([f"model.layers.5.mlp.experts.{i}.down_proj" for i in range(8)]),
        config=DEEPSEEK,
        target={"gfx": "gfx950", "draft": False},
        part="draft",
        silent=True,
    ),
    Situation(
        rule="FSE108",
        name="nothing is left out",
        block=quark(LATE),
        config=DEEPSEEK,
        target={"gfx": "gfx950"},
        silent=True,
    ),
    Situation(
        rule="FSE117",
        name="a shared expert four times as wide as a routed one, as Qwen's first MoE had",
        block=None,
        config={**QWEN3_NEXT, "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632},
        words=("the shared expert is 5632 wide", "its slot 1408"),
        fix='{"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS": "0"}',
        consequence="load_fails",
        confidence="certain",
    ),
    Situation(rule="FSE117", name="the same widths", block=FP8_BLOCK, config=QWEN3_NEXT, silent=True),
    Situation(
        rule="FSE117",
        name="a class without fusion",
        block=None,
        config={
            **QWEN3_NEXT,
            "architectures": ["Qwen2MoeForCausalLM"],
            "model_type": "qwen2_moe",
            "moe_intermediate_size": 1408,
            "shared_expert_intermediate_size": 5632,
        },
        silent=True,
    ),
    Situation(
        rule="FSE118",
        name="main layers in MXFP4 and the draft's shared expert in another scheme, as in AMD's DeepSeek-V4",
        block=quark(
            LATE,
            layer_quant_config={
                name: {**MXFP4, "weight": {"dtype": "fp8_e4m3", "qscheme": "per_tensor", "is_dynamic": False}}
                for name in shared(5)
            },
        ),
        config=DEEPSEEK,
        target={"gfx": "gfx950"},
        words=("Draft layer 5", "Quark uses different quantization configurations"),
        part="draft",
    ),
]
