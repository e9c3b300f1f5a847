"""Kimi-Linear, and Kimi-K3 with its draft layers. A count of 0 shared experts still builds the module.

Source: vllm/models/kimi_k3/amd/linear.py:258,594, amd/model.py:131 and amd/mtp.py:121 at 0.33.0.
"""

from collections.abc import Iterable

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, next_layers, separate, with_draft
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASSES = {
    "KimiLinearForCausalLM": "KimiLinearForCausalLM",
    "KimiK3ForConditionalGeneration": "KimiK3ForConditionalGeneration",
}


def _built(text: Fields, indices: Iterable[int]) -> list[int]:
    null_shared = "num_shared_experts" in text and text.get("num_shared_experts") is None
    if text.optional_integer("num_experts") is None or null_shared:
        return []
    dense = text.integer("first_k_dense_replace", 0)
    every = text.integer("moe_layer_freq", 1, least=1)
    return [i for i in indices if i >= dense and i % every == 0]


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    architecture = model.require_architecture()
    k3 = architecture == "KimiK3ForConditionalGeneration"
    name = "model.layers.{i}.block_sparse_moe"
    return with_draft(
        separate(
            _CLASSES[architecture],
            moe_layers(f"language_model.{name}" if k3 else name, _built(model.text, hidden_layers(model.text))),
        ),
        separate("KimiK3MTP", moe_layers(name, _built(model.text, next_layers(model.text))), "draft"),
        target.draft and k3,
    )


FAMILY = Family(name="kimi_linear", architectures=_CLASSES, parts=_parts)
