"""Param2 MoE.

Source: vllm/model_executor/models/param2moe.py:307,399 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    text = model.text
    dense = text.integer("first_k_dense_replace", 1)
    built = text.optional_integer("num_experts") is not None and text.integer("num_shared_experts", 1) > 0
    indices = [i for i in hidden_layers(text) if built and i >= dense]
    return (separate("Param2MoEForCausalLM", moe_layers("model.layers.{i}.mlp", indices)),)


FAMILY = Family(name="param2moe", architectures={"Param2MoEForCausalLM": "Param2MoEForCausalLM"}, parts=_parts)
