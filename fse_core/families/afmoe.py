"""AFMoE (Trinity).

Source: vllm/model_executor/models/afmoe.py:107,311 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    dense = model.text.integer("num_dense_layers", 1)
    shared = model.text.integer("num_shared_experts", 2)
    indices = [i for i in hidden_layers(model.text) if shared > 0 and i >= dense]
    return (separate("AfmoeForCausalLM", moe_layers("model.layers.{i}.mlp", indices)),)


FAMILY = Family(name="afmoe", architectures={"AfmoeForCausalLM": "AfmoeForCausalLM"}, parts=_parts)
