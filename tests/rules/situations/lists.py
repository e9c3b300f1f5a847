"""FSE104, FSE105, FSE118, FSE121 and FSE152: lists and schemes that do not mean what their author meant."""

from typing import Any

from tests.models import DEEPSEEK, FP8_BLOCK, FP8_TENSOR, MXFP4, QUARK_MXFP4
from tests.models import MXFP8 as MODELOPT_MXFP8
from tests.rules.cases import GLM_4_7, INT4, QWEN3_NEXT, compressed, shared
from tests.rules.situations import Situation

MX: dict[str, Any] = {"gfx": "gfx950", "draft": False}
FUSION_OFF = {"environment": {"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS": "0"}}
ATTENTION = [f"layers.{i}.self_attn.o_proj" for i in range(5)]
GLM_5_3: dict[str, Any] = {
    "architectures": ["Glm5NextForCausalLM"],
    "model_type": "glm5_next",
    "num_hidden_layers": 5,
    "mlp_layer_types": ["dense", "dense", "dense", "sparse", "sparse"],
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "hidden_size": 256,
    "moe_intermediate_size": 256,
}
KIMI_K2_5: dict[str, Any] = {
    "architectures": ["KimiK25ForConditionalGeneration"],
    "model_type": "kimi_k25",
    "text_config": {**DEEPSEEK, "num_nextn_predict_layers": 0},
}
FP8: dict[str, Any] = {**MXFP4, **FP8_TENSOR}
NULLS = {**MXFP4, "observer": None}
LISTED = {**MXFP4, "weight": {**MXFP4["weight"], "group_size": [32]}}


def quark(*exclude: str, **more: Any) -> dict[str, Any]:
    return {**QUARK_MXFP4, "exclude": list(exclude), **more}


def below(root: str, names: list[str] = ATTENTION) -> list[str]:
    return [f"{root}.{name}" for name in names]


SITUATIONS = [
    # FSE104: names that no module has
    Situation(
        rule="FSE104",
        name="a wrapper's name before the layers of Kimi-K2's text model",
        block=quark(*below("language_model.model")),
        config=DEEPSEEK,
        target=MX,
        words=("5 of 5 entries of quantization_config.exclude match no module", "DeepseekV3ForCausalLM does not use"),
        fix='"model.layers.0.self_attn.o_proj"',
        consequence="load_fails",
        confidence="likely",
    ),
    Situation(
        rule="FSE104",
        name="checkpoint names of the multimodal GLM-5.3-Flash, read by its text class",
        block=quark("lm_head", *below("model.language_model", [f"layers.{i}.mlp.down_proj" for i in range(3)])),
        config=GLM_5_3,
        target={**MX, "tp": 8},
        words=("3 of 4 entries", "Glm5NextForCausalLM"),
        fix='"model.layers.2.mlp.down_proj"',
    ),
    Situation(
        rule="FSE104",
        name="an entry for the attention as a whole",
        block={**FP8_BLOCK, "modules_to_not_convert": ["lm_head", "model.layers.3.self_attn"]},
        config=GLM_4_7,
        words=("1 of 2 entries of quantization_config.modules_to_not_convert", "only holds others"),
    ),
    Situation(
        rule="FSE104",
        name="the shared expert under a wrapper's name, with fusion off",
        block=quark(*below("language_model.model", ["layers.3.mlp.shared_experts.down_proj"])),
        config=DEEPSEEK,
        target={**MX, **FUSION_OFF},
        words=("1 of 1 entries",),
    ),
    Situation(
        rule="FSE104",
        name="Qwen3.5's checkpoint names, read by its multimodal class, which renames them",
        block={**FP8_BLOCK, "modules_to_not_convert": ["lm_head", *below("model.language_model")]},
        config={
            "architectures": ["Qwen3_5MoeForConditionalGeneration"],
            "model_type": "qwen3_5_moe",
            "text_config": {**QWEN3_NEXT, "model_type": "qwen3_5_moe_text"},
        },
        silent=True,
    ),
    Situation(
        rule="FSE104",
        name="Kimi-K2.5's own names",
        block=quark(*below("language_model.model")),
        config=KIMI_K2_5,
        target=MX,
        silent=True,
    ),
    Situation(
        rule="FSE104",
        name="vision tower, router, head, draft and patterns",
        block=quark(
            "lm_head",
            "model.layers.3.mlp.gate",
            "model.visual.blocks.0.attn.qkv",
            "model.layers.5.self_attn.o_proj",
            "re:.*self_attn.*",
        ),
        config=DEEPSEEK,
        target=MX,
        silent=True,
    ),
    Situation(
        rule="FSE104",
        name="routed experts by their parent",
        block={**FP8_BLOCK, "ignored_layers": ["model.layers.3.mlp.experts", "model.layers.3.mlp.gate"]},
        config=DEEPSEEK,
        target=FUSION_OFF,
        silent=True,
    ),
    Situation(
        rule="FSE104",
        name="GLM-5.3-Flash, whose class leaves attention and norms in 16 bits whatever is listed",
        block={**FP8_BLOCK, "modules_to_not_convert": ["lm_head", *below("model")]},
        config={
            **GLM_5_3,
            "architectures": ["Glm5NextForConditionalGeneration"],
            "text_config": {**GLM_5_3, "model_type": "glm5_next_text"},
        },
        target={**MX, "tp": 8},
        silent=True,
    ),
    Situation(rule="FSE104", name="no list", block=FP8_BLOCK, config=DEEPSEEK, silent=True),
    # FSE105: dialects
    Situation(
        rule="FSE105",
        name="shell patterns in Quark's exclude, as copied from a command line",
        block=quark("lm_head", "*self_attn*", "*mlp.gate"),
        config=DEEPSEEK,
        target=MX,
        words=("2 of 3 entries of quantization_config.exclude are shell patterns", "QuarkConfig"),
        fix='"re:.*self_attn.*$"',
        consequence="load_fails",
        confidence="likely",
    ),
    Situation(
        rule="FSE105",
        name="re: patterns in an FP8 list",
        block={**FP8_BLOCK, "ignored_layers": ["re:.*self_attn.*", "lm_head"]},
        config=DEEPSEEK,
        words=("1 of 2 entries", "re: patterns"),
    ),
    Situation(
        rule="FSE105",
        name="re: patterns in ModelOpt's list",
        block={**MODELOPT_MXFP8, "ignore": ["re:.*self_attn.*"]},
        config=DEEPSEEK,
        words=("ModelOptMxFp8Config",),
    ),
    Situation(
        rule="FSE105",
        name="shell patterns in a list of compressed-tensors",
        block=compressed(INT4, "pack-quantized", "*self_attn*"),
        config=DEEPSEEK,
        words=("CompressedTensorsConfig",),
        fix='"re:.*self_attn.*$"',
    ),
    Situation(
        rule="FSE105",
        name="an exception for each routed expert, which never reaches them",
        block=quark(global_quant_config=FP8, layer_quant_config={"*.experts.*": MXFP4}),
        config=DEEPSEEK,
        target=MX,
        words=("Layers 3-4 (2)", "held against the experts as a whole", "fuses them"),
        fix='{"*mlp.experts": ',
        consequence="load_fails",
    ),
    Situation(
        rule="FSE105",
        name="an exception by a regular expression",
        block=quark(global_quant_config=FP8, layer_quant_config={"re:.*mlp\\.experts\\..*": MXFP4}),
        config=DEEPSEEK,
        target=MX,
        words=("re: is not understood there",),
    ),
    Situation(
        rule="FSE105",
        name="Quark's re: patterns, as in Kimi-K2.5-MXFP4",
        block=quark("lm_head", "re:.*self_attn.*", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"),
        config=DEEPSEEK,
        target=MX,
        silent=True,
    ),
    Situation(
        rule="FSE105",
        name="ModelOpt's shell patterns",
        block={**MODELOPT_MXFP8, "ignore": ["lm_head", "model.layers.*.self_attn*"]},
        config=DEEPSEEK,
        silent=True,
    ),
    Situation(
        rule="FSE105",
        name="an exception that reaches them",
        block=quark(global_quant_config=FP8, layer_quant_config={"*mlp.experts*": MXFP4}),
        config=DEEPSEEK,
        target=MX,
        silent=True,
    ),
    Situation(
        rule="FSE105",
        name="an exception for the attention",
        block=quark(layer_quant_config={"*self_attn*": FP8}),
        config=DEEPSEEK,
        target=MX,
        silent=True,
    ),
    Situation(
        rule="FSE105",
        name="names alone",
        block={**FP8_BLOCK, "modules_to_not_convert": ["lm_head", "model.layers.3.mlp.gate"]},
        config=DEEPSEEK,
        silent=True,
    ),
    # FSE118: drafts
    Situation(
        rule="FSE118",
        name="the draft's shared expert alone is excluded, as in GLM-5.2-MXFP4",
        block=quark(*shared(5)),
        config=DEEPSEEK,
        target={"gfx": "gfx950"},
        words=("Draft layer 5", "is not fused, unlike the target's", "no layer of the target"),
        consequence="not_fused",
        confidence="certain",
        layers="5",
        part="draft",
    ),
    Situation(
        rule="FSE118",
        name="all but the draft's",
        block={**FP8_BLOCK, "ignored_layers": shared(3, 4)},
        config=DEEPSEEK,
        words=("is fused, unlike the target's",),
        consequence="none",
        part="draft",
    ),
    Situation(rule="FSE118", name="both alike", block=FP8_BLOCK, config=DEEPSEEK, part="draft", silent=True),
    Situation(
        rule="FSE118",
        name="both listed",
        block={**FP8_BLOCK, "ignored_layers": shared(3, 4, 5)},
        config=DEEPSEEK,
        part="draft",
        silent=True,
    ),
    Situation(
        rule="FSE118",
        name="no draft is built",
        block=quark(*shared(5)),
        config=DEEPSEEK,
        target=MX,
        part="draft",
        silent=True,
    ),
    # FSE121: entries that are about something else
    Situation(
        rule="FSE121",
        name="the shared expert's gate, as in Qwen3.5-397B-A17B-MoE-MXFP4",
        block=quark("model.layers.0.mlp.shared_expert_gate", "model.layers.0.mlp.gate"),
        config=QWEN3_NEXT,
        target={**MX, "vllm": "0.29.0"},
        words=("Layers 0-3 (4)", "looks for the text shared_expert"),
        fix='"vllm": "0.3',
        consequence="not_fused",
        confidence="certain",
    ),
    Situation(
        rule="FSE121",
        name="the draft's shared expert, as in GLM-5.2-MXFP4",
        block=quark(*shared(5)),
        config=DEEPSEEK,
        target={**MX, "vllm": "0.29.0"},
        words=("Layers 3-4 (2)",),
    ),
    Situation(
        rule="FSE121",
        name="a later release",
        block=quark("model.layers.0.mlp.shared_expert_gate"),
        config=QWEN3_NEXT,
        target=MX,
        silent=True,
    ),
    Situation(
        rule="FSE121",
        name="the shared experts themselves",
        block=quark("re:.*shared_experts.*"),
        config=DEEPSEEK,
        target={**MX, "vllm": "0.29.0"},
        silent=True,
    ),
    Situation(
        rule="FSE121",
        name="before the gate",
        block=quark("model.layers.0.mlp.shared_expert_gate"),
        config=QWEN3_NEXT,
        target={**MX, "vllm": "0.28.0"},
        silent=True,
    ),
    # FSE152: one scheme in two spellings
    Situation(
        rule="FSE152",
        name="a key that is null in one and absent in the other",
        block=quark(layer_quant_config=dict.fromkeys(shared(3, 4), NULLS)),
        config=DEEPSEEK,
        target=MX,
        words=("Layers 3-4 (2)", "observer differ only in being null or absent"),
        fix='"observer": null',
        consequence="not_fused",
        confidence="certain",
    ),
    Situation(
        rule="FSE152",
        name="a number and a list of one, which the release does not take for a scheme",
        block=quark(layer_quant_config={"*shared_experts*": LISTED}),
        config=DEEPSEEK,
        target=MX,
        silent=True,
    ),
    Situation(
        rule="FSE152",
        name="another scheme",
        block=quark(layer_quant_config={"*shared_experts*": FP8}),
        config=DEEPSEEK,
        target=MX,
        silent=True,
    ),
    Situation(
        rule="FSE152",
        name="16-bit activations instead of none said",
        block=quark(layer_quant_config={"*shared_experts*": {**MXFP4, "input_tensors": None}}),
        config=DEEPSEEK,
        target=MX,
        silent=True,
    ),
    Situation(
        rule="FSE152",
        name="the same words",
        block=quark(layer_quant_config={"*shared_experts*": MXFP4}),
        config=DEEPSEEK,
        target=MX,
        silent=True,
    ),
]
