"""Inkling: gated "sink" experts in a module of their own, always unquantized. Its draft layers are dense.

Source: vllm/models/inkling/amd/model.py:135, amd/moe.py:424,484 and amd/mtp.py:100 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASSES = {
    "InklingForCausalLM": "InklingForCausalLM",
    "InklingForConditionalGeneration": "InklingForConditionalGeneration",
}


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    dense = model.text.integer("dense_mlp_idx", 0)
    indices = [i for i in hidden_layers(model.text) if i >= dense]
    return (separate(_CLASSES[model.require_architecture()], moe_layers("model.layers.{i}.mlp", indices)),)


FAMILY = Family(name="inkling", architectures=_CLASSES, parts=_parts)
