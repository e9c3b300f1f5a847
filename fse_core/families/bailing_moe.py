"""Ling and Ring (Bailing MoE and its V2), and Sarvam's MoE, which reuses the class.

Source: vllm/model_executor/models/bailing_moe.py:280,350 and sarvam.py:751 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASSES = {
    "BailingMoeForCausalLM": "BailingMoeForCausalLM",
    "BailingMoeV2ForCausalLM": "BailingMoeV2ForCausalLM",
    "SarvamMoEForCausalLM": "SarvamMoEForCausalLM",
}


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    dense = model.text.integer("first_k_dense_replace")
    shared = model.text.integer("num_shared_experts")
    indices = [i for i in hidden_layers(model.text) if shared > 0 and i >= dense]
    return (separate(_CLASSES[model.require_architecture()], moe_layers("model.layers.{i}.mlp", indices)),)


FAMILY = Family(name="bailing_moe", architectures=_CLASSES, parts=_parts)
