"""Granite MoE with a shared MLP beside the MoE block in each decoder layer, and the hybrid with Mamba layers.

Source: vllm/model_executor/models/granitemoeshared.py:110 and granitemoehybrid.py:90,166 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASSES = {
    "GraniteMoeHybridForCausalLM": "GraniteMoeHybridForCausalLM",
    "GraniteMoeSharedForCausalLM": "GraniteMoeSharedForCausalLM",
    "GraniteMoeSWAForCausalLM": "GraniteMoeSharedForCausalLM",
}


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    architecture = model.require_architecture()
    hybrid = architecture == "GraniteMoeHybridForCausalLM"
    width = model.text.integer("shared_intermediate_size", 1024 if hybrid else 0)
    routed = model.text.integer("num_local_experts", 8) > 0 or not hybrid
    indices = hidden_layers(model.text) if width and routed else ()
    layers = moe_layers("model.layers.{i}", indices, "shared_mlp", "block_sparse_moe.experts")
    return (separate(_CLASSES[architecture], layers),)


FAMILY = Family(name="granite_moe_shared", architectures=_CLASSES, parts=_parts)
