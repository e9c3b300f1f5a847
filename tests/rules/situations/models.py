"""FSE126, FSE129, FSE132, FSE135, FSE138 and what FSE150 knows of routers and drafts."""

from typing import Any

from tests.models import DEEPSEEK, FP8_BLOCK, FP8_TENSOR, MXFP4, QUARK_MXFP4
from tests.rules.cases import GLM_4_7, NVFP4, QWEN3_5, QWEN3_NEXT, R1, shared
from tests.rules.situations import Situation

MX: dict[str, Any] = {"gfx": "gfx950", "draft": False}
TARGETS = {**MX, "overlay": {"targets": {"*shared_expert*": "mxfp4"}}}
EXCLUDED = {**QUARK_MXFP4, "exclude": shared(3, 4)}
FP8_SHARED = {**QUARK_MXFP4, "layer_quant_config": {"*shared_experts*": {**MXFP4, **FP8_TENSOR}}}
GLM_4_5 = {**GLM_4_7, "hidden_size": 5120, "n_routed_experts": 160, "moe_intermediate_size": 1536}
V2_LITE: dict[str, Any] = {
    **DEEPSEEK,
    "architectures": ["DeepseekV2ForCausalLM"],
    "model_type": "deepseek_v2",
    "n_shared_experts": 2,
    "n_group": 1,
    "topk_group": 1,
    "topk_method": "greedy",
    "scoring_func": "softmax",
    "routed_scaling_factor": 1.0,
}
V2 = {**V2_LITE, "n_group": 4, "topk_group": 2, "topk_method": "group_limited_greedy", "routed_scaling_factor": 16.0}
GLM_5 = {**V2_LITE, "topk_method": "noaux_tc", "scoring_func": "sigmoid"}
MINIMAX_M2: dict[str, Any] = {
    "architectures": ["MiniMaxM2ForCausalLM"],
    "model_type": "minimax_m2",
    "num_hidden_layers": 2,
    "num_local_experts": 8,
    "auto_map": {"AutoConfig": "configuration_minimax_m2.MiniMaxM2Config"},
}
KIMI: dict[str, Any] = {**DEEPSEEK, "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV3Config"}}
DEEPSEEK_V4: dict[str, Any] = {
    "architectures": ["DeepseekV4ForCausalLM"],
    "model_type": "deepseek_v4",
    "num_hidden_layers": 3,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "hidden_size": 256,
    "moe_intermediate_size": 256,
}
WRAPPED: dict[str, Any] = {
    "architectures": ["KimiK25ForConditionalGeneration"],
    "model_type": "kimi_k25",
    "text_config": {**DEEPSEEK, "num_nextn_predict_layers": 0},
}
ALICE: dict[str, Any] = {
    "architectures": ["AliceAIForCausalLM"],
    "model_type": "alice_ai",
    "num_hidden_layers": 2,
    "num_experts": 8,
    "hidden_size": 256,
    "moe_intermediate_size": 256,
    "shared_expert_intermediate_size": 256,
}


def inside(block: dict[str, Any]) -> dict[str, Any]:
    """The same model with a block in its text config."""
    return {**WRAPPED, "text_config": {**WRAPPED["text_config"], "quantization_config": block}}


def code(**entries: str) -> dict[str, Any]:
    return {**DEEPSEEK, "auto_map": entries}


SITUATIONS = [
    # FSE126: MXFP4 on the fly
    Situation(
        rule="FSE126",
        name="from 16 bits",
        block=EXCLUDED,
        config=DEEPSEEK,
        target=TARGETS,
        words=("Layers 3-4 (2)", "in full and by both filters"),
        consequence="none",
        confidence="likely",
    ),
    Situation(
        rule="FSE126",
        name="from FP8",
        block=FP8_SHARED,
        config=DEEPSEEK,
        target=TARGETS,
        words=("stored as FP8 with one scale a tensor", "without their scales"),
        fix="VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS",
        consequence="silent_corruption",
        confidence="likely",
    ),
    Situation(
        rule="FSE126",
        name="by `linear`, without targets",
        block=EXCLUDED,
        config=DEEPSEEK,
        target={**MX, "overlay": {"linear": "mxfp4"}},
        words=("Layers 3-4 (2)", "in full and by both filters"),
        consequence="none",
        confidence="likely",
    ),
    Situation(
        rule="FSE126",
        name="of a class that does not hand the name on",
        block={**QUARK_MXFP4, "exclude": ["re:.*shared_expert.*"]},
        config=DEEPSEEK_V4,
        target={**TARGETS, "vllm": "0.33.0"},
        words=("this class does not hand its name to the quantizer", "Loading fails"),
        fix="VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS",
        consequence="load_fails",
    ),
    Situation(
        rule="FSE126", name="from MXFP4 already", block=QUARK_MXFP4, config=DEEPSEEK, target=TARGETS, silent=True
    ),
    Situation(rule="FSE126", name="no overlay", block=QUARK_MXFP4, config=DEEPSEEK, target=MX, silent=True),
    Situation(
        rule="FSE126",
        name="fusion is off",
        block=EXCLUDED,
        config=DEEPSEEK,
        target={**TARGETS, "environment": {"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS": "0"}},
        silent=True,
    ),
    # FSE129: blocks in two places
    Situation(
        rule="FSE129",
        name="another block size in the text config",
        block=FP8_BLOCK,
        config=inside({**FP8_BLOCK, "weight_block_size": [64, 64]}),
        words=("weight_block_size", "reads quantization_config and not text_config.quantization_config"),
        consequence="none",
        confidence="certain",
    ),
    Situation(
        rule="FSE129",
        name="one list is longer",
        block={**FP8_BLOCK, "ignored_layers": ["lm_head"]},
        config=inside({**FP8_BLOCK, "ignored_layers": ["lm_head", "model.layers.0.mlp.down_proj"]}),
        words=("ignored_layers (1 of the second alone; model.layers.0.mlp.down_proj)",),
    ),
    Situation(rule="FSE129", name="the same twice", block=FP8_BLOCK, config=inside(FP8_BLOCK), silent=True),
    Situation(rule="FSE129", name="in the text config alone", block=None, config=inside(FP8_BLOCK), silent=True),
    Situation(rule="FSE129", name="at the top alone", block=FP8_BLOCK, config=WRAPPED, silent=True),
    # FSE132: code from repositories
    Situation(
        rule="FSE132",
        name="code from another repository",
        block=None,
        config=code(AutoConfig="someone/else--configuration.Config", AutoModel="modeling.Model"),
        words=("1 of 2 entries", "AutoConfig from someone/else"),
        consequence="none",
        confidence="certain",
    ),
    Situation(
        rule="FSE132",
        name="MiniMax-M2.1-MXFP4 with a release that forbids it",
        block=QUARK_MXFP4,
        config=MINIMAX_M2,
        target={"vllm": "0.18.0"},
        words=("QuarkConfig of vLLM 0.18.0 forbids that",),
        fix='{"vllm": "0.20.0"}',
        consequence="start_fails",
        confidence="likely",
    ),
    Situation(
        rule="FSE132",
        name="a release that does not",
        block=QUARK_MXFP4,
        config=MINIMAX_M2,
        target={"vllm": "0.20.0"},
        silent=True,
    ),
    Situation(
        rule="FSE132",
        name="a type that is known by itself",
        block=QUARK_MXFP4,
        config=KIMI,
        target={"vllm": "0.18.0", "gfx": "gfx950"},
        silent=True,
    ),
    Situation(rule="FSE132", name="code beside the config", block=None, config=KIMI, silent=True),
    Situation(rule="FSE132", name="no code", block=QUARK_MXFP4, config=DEEPSEEK, target=MX, silent=True),
    # FSE135: other names
    Situation(
        rule="FSE135",
        name="experts under Qwen's name in a DeepSeek",
        block=None,
        config={**{key: value for key, value in DEEPSEEK.items() if key != "n_routed_experts"}, "num_experts": 64},
        words=("num_experts is 64", "reads n_routed_experts, which is not there"),
        confidence="likely",
    ),
    Situation(
        rule="FSE135",
        name="two numbers of chosen experts",
        block=None,
        config={**QWEN3_NEXT, "num_experts_per_tok": 8, "moe_top_k": 6},
        words=("moe_top_k is 6", "num_experts_per_tok, which is 8"),
    ),
    Situation(
        rule="FSE135",
        name="the same under both names",
        block=None,
        config={**DEEPSEEK, "num_experts": 8},
        silent=True,
    ),
    Situation(rule="FSE135", name="its own names", block=None, config=QWEN3_NEXT, silent=True),
    Situation(rule="FSE135", name="a class that reads other names", block=None, config=MINIMAX_M2, silent=True),
    # FSE138: what others measured
    Situation(
        rule="FSE138",
        name="DeepSeek-R1's shape",
        block=FP8_BLOCK,
        config=R1,
        target={"tp": 8, "draft": False},
        words=("time per token -10 % at concurrency 1", "vllm-project/vllm#48223", "64 and above"),
        consequence="none",
        confidence="likely",
    ),
    Situation(
        rule="FSE138",
        name="two reports of GLM-4.x",
        block=None,
        config=GLM_4_5,
        target={"tp": 8},
        words=("-2.0 % at 64", "-1.8 % at 64"),
    ),
    Situation(
        rule="FSE138",
        name="Qwen3.5-397B-A17B",
        block=QUARK_MXFP4,
        config=QWEN3_5,
        target={**MX, "tp": 4},
        words=("+19.9 % at concurrency 4", "vllm-project/vllm#44434"),
    ),
    Situation(rule="FSE138", name="a shape of which nobody told", block=FP8_BLOCK, config=DEEPSEEK, silent=True),
    Situation(
        rule="FSE138",
        name="it is not fused",
        block={**FP8_BLOCK, "ignored_layers": shared(3, 4)},
        config=R1,
        target={"draft": False},
        silent=True,
    ),
    Situation(
        rule="FSE138",
        name="it is fused and does not load",
        block={**QUARK_MXFP4, "exclude": ["re:.*shared_experts.*"]},
        config=R1,
        target={**MX, "vllm": "0.28.0"},
        silent=True,
    ),
    Situation(
        rule="FSE138",
        name="a format whose scales may not be cut",
        block=NVFP4,
        config=R1,
        target={"vllm": "0.28.0", "draft": False},
        silent=True,
    ),
    # FSE150: routers and drafts
    Situation(
        rule="FSE150",
        name="DeepSeek-V2-Lite's router is taken for Qwen's",
        block=None,
        config=V2_LITE,
        target={"draft": False},
        words=("is taken for Qwen's",),
        fix="VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS",
        consequence="silent_corruption",
        confidence="likely",
    ),
    Situation(
        rule="FSE150",
        name="sigmoid without a bias",
        block=None,
        config={**V2_LITE, "scoring_func": "sigmoid"},
        target={"draft": False},
        words=("never names the fused slot",),
    ),
    Situation(
        rule="FSE150",
        name="groups that do not divide the experts",
        block=None,
        config={**V2, "n_routed_experts": 10},
        target={"draft": False},
        words=("no larger multiple of the number of groups",),
    ),
    Situation(
        rule="FSE150", name="AliceAI", block=None, config=ALICE, words=("a weight of one instead of its gate's",)
    ),
    Situation(rule="FSE150", name="DeepSeek-V2's groups", block=None, config=V2, target={"draft": False}, silent=True),
    Situation(
        rule="FSE150", name="a bias, as GLM-5 has", block=None, config=GLM_5, target={"draft": False}, silent=True
    ),
    Situation(
        rule="FSE150",
        name="DeepSeek-V2-Lite before the router changed",
        block=None,
        config=V2_LITE,
        target={"draft": False, "vllm": "0.26.0"},
        silent=True,
    ),
    Situation(
        rule="FSE150",
        name="a factor keeps DeepSeek's router",
        block=None,
        config={**V2_LITE, "routed_scaling_factor": 2.5},
        target={"draft": False},
        silent=True,
    ),
]
