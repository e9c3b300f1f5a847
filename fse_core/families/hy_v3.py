"""HY-V3 and its draft layers. The class hands on the number of shared experts but never asks for fusion.

Source: vllm/model_executor/models/hy_v3.py:164,393 and hy_v3_mtp.py:145 at 0.33.0.
"""

from dataclasses import replace

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, next_layers, separate, with_draft
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_PREFIX = "model.layers.{i}.mlp"


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    text = model.text
    dense = text.integer("first_k_dense_replace")
    shared = text.integer("num_shared_experts", 1) > 0

    def built(indices: range) -> list[int]:
        return [i for i in indices if shared and i >= dense]

    slots = text.integer("num_shared_experts", 1)
    part = separate("HYV3ForCausalLM", moe_layers(_PREFIX, built(hidden_layers(text)), "shared_mlp"))
    draft = separate("HYV3MTP", moe_layers(_PREFIX, built(next_layers(text)), "shared_mlp"), "draft")
    return with_draft(_asking(part, slots, release), _asking(draft, slots, release), target.draft)


def _asking(part: Part, slots: int, release: Release) -> Part:
    """Until 0.28.0 the class hands its shared experts to the routed ones as a number too, and so builds slots for them.

    Source: vllm/model_executor/models/hy_v3.py:198 at 0.28.0.
    """
    layers = tuple(replace(layer, slots=slots) for layer in part.layers)
    by_variable = release.has("experts_fuse_by_variable_alone")
    return replace(part, layers=layers, request="environment" if by_variable else "aiter")


FAMILY = Family(name="hy_v3", architectures={"HYV3ForCausalLM": "HYV3ForCausalLM"}, parts=_parts)
