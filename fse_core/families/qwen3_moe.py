"""Qwen3 MoE and its multimodal kin. They have a gated shared expert only where the config gives it a width.

Source: vllm/model_executor/models/qwen3_moe.py:177,390, qwen3_vl_moe.py:285 and qwen3_omni_moe_thinker.py:1714
at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASSES = {
    "Qwen3MoeForCausalLM": "Qwen3MoeForCausalLM",
    "Qwen3VLMoeForConditionalGeneration": "Qwen3VLMoeForConditionalGeneration",
    "Qwen3OmniMoeForConditionalGeneration": "Qwen3OmniMoeThinkerForConditionalGeneration",
}


def _text(model: Model) -> Fields:
    return (
        model.config.object("thinker_config").object("text_config") if "thinker_config" in model.config else model.text
    )


def _indices(text: Fields) -> list[int]:
    if text.integer("shared_expert_intermediate_size", 0) == 0:
        return []
    dense = set(text.integers("mlp_only_layers", []))
    step = text.integer("decoder_sparse_step", 1, least=1)
    routed = text.integer("num_experts", text.integer("num_local_experts", 128)) > 0
    return [i for i in hidden_layers(text) if routed and i not in dense and (i + 1) % step == 0]


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    architecture = model.require_architecture()
    root = "" if architecture == "Qwen3MoeForCausalLM" else "language_model."
    layers = moe_layers(f"{root}model.layers.{{i}}.mlp", _indices(_text(model)), "shared_expert")
    return (separate(_CLASSES[architecture], layers),)


FAMILY = Family(name="qwen3_moe", architectures=_CLASSES, parts=_parts)
