"""Cohere2 MoE.

Source: vllm/model_executor/models/cohere2_moe.py:331,447 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, layer_types, moe_layers, separate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    text = model.text
    types = layer_types(text, text.integer("first_k_dense_replace", 0))
    shared = text.integer("num_shared_experts", 0)
    indices = [i for i in hidden_layers(text) if shared > 0 and types[i : i + 1] != ["dense"]]
    return (separate("Cohere2MoeForCausalLM", moe_layers("model.layers.{i}.mlp", indices)),)


FAMILY = Family(name="cohere2_moe", architectures={"Cohere2MoeForCausalLM": "Cohere2MoeForCausalLM"}, parts=_parts)
