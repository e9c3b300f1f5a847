"""Ling 2.5 and 2.6 (Bailing MoE V2.5, linear attention) and its draft layers.

Source: vllm/model_executor/models/bailing_moe_linear.py:295,380 and bailing_moe_mtp.py:93,134 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, next_layers, separate, with_draft
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_PREFIX = "model.layers.{i}.mlp"


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    text = model.text
    dense = text.integer("first_k_dense_replace", 2)
    shared = text.integer("num_shared_experts", 1) > 0
    routed = text.integer("num_experts", 512) > 1
    indices = [i for i in hidden_layers(text) if shared and routed and i >= dense]
    draft = next_layers(text, text.integer("num_nextn_predict_layers", 1)) if shared else ()
    return with_draft(
        separate("BailingMoeV25ForCausalLM", moe_layers(_PREFIX, indices)),
        separate("BailingMoeV25MTPModel", moe_layers(_PREFIX, draft), "draft"),
        target.draft,
    )


FAMILY = Family(
    name="bailing_moe_linear",
    architectures={"BailingMoeV2_5ForCausalLM": "BailingMoeV25ForCausalLM"},
    parts=_parts,
)
