"""Laguna.

Source: vllm/model_executor/models/laguna.py:184,517 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import moe_layers, separate, sparse_layers
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    text = model.text
    built = text.integer("num_experts", 256) > 0 and text.integer("shared_expert_intermediate_size", 512) > 0
    layers = moe_layers("model.layers.{i}.mlp", sparse_layers(text, 1) if built else [], "shared_expert")
    return (separate("LagunaForCausalLM", layers),)


FAMILY = Family(name="laguna", architectures={"LagunaForCausalLM": "LagunaForCausalLM"}, parts=_parts)
