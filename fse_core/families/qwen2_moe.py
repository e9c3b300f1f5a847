"""Qwen2 MoE, whose shared expert has a sigmoid gate of its own.

Source: vllm/model_executor/models/qwen2_moe.py:157,314 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    text = model.text
    dense = set(text.integers("mlp_only_layers", []))
    step = text.integer("decoder_sparse_step", 1, least=1)
    built = text.integer("num_experts", 60) > 0 and text.integer("shared_expert_intermediate_size", 5632) > 0
    indices = [i for i in hidden_layers(text) if built and i not in dense and (i + 1) % step == 0]
    return (separate("Qwen2MoeForCausalLM", moe_layers("model.layers.{i}.mlp", indices, "shared_expert")),)


FAMILY = Family(name="qwen2_moe", architectures={"Qwen2MoeForCausalLM": "Qwen2MoeForCausalLM"}, parts=_parts)
