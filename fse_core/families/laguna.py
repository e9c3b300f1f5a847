"""Laguna.

Source: vllm/model_executor/models/laguna.py:184,517 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate, sparse_layers
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _by_step(text: Fields) -> list[int]:
    """Source: vllm/model_executor/models/laguna.py:513 at 0.30.0."""
    dense = text.integers("mlp_only_layers", [0])
    step = text.integer("decoder_sparse_step", 1, least=1)
    return [i for i in hidden_layers(text) if i not in dense and (i + 1) % step == 0]


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    text = model.text
    built = text.integer("num_experts", 256) > 0 and text.integer("shared_expert_intermediate_size", 512) > 0
    sparse = _by_step(text) if release.has("laguna_sparse_step") else sparse_layers(text, 1)
    layers = moe_layers("model.layers.{i}.mlp", sparse if built else [], "shared_expert")
    return (separate("LagunaForCausalLM", layers),)


FAMILY = Family(name="laguna", architectures={"LagunaForCausalLM": "LagunaForCausalLM"}, parts=_parts)
