"""Sarvam with MLA attention.

Source: vllm/model_executor/models/sarvam.py:332,406 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    text = model.text
    dense = text.integer("first_k_dense_replace", 1)
    every = text.integer("moe_layer_freq", 1, least=1)
    built = text.optional_integer("num_experts") is not None and text.integer("num_shared_experts", 1) > 0
    indices = [i for i in hidden_layers(text) if built and i >= dense and (i - dense) % every == 0]
    return (separate("SarvamMLAForCausalLM", moe_layers("model.layers.{i}.mlp", indices)),)


FAMILY = Family(name="sarvam_mla", architectures={"SarvamMLAForCausalLM": "SarvamMLAForCausalLM"}, parts=_parts)
