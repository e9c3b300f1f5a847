"""Ling 3 (Bailing MoE V3), its vision-language wrapper and its draft layers; shared experts are always built.

Source: vllm/model_executor/models/bailing_moe_v3.py:1187,1265, bailing_moe_v3_vl.py:371 and
bailing_moe_v3_mtp.py:111,153 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, next_layers, separate, with_draft
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASSES = {
    "BailingMoeV3ForCausalLM": "BailingMoeV3ForCausalLM",
    "BailingMoeV3VLForConditionalGeneration": "BailingMoeV3VLForConditionalGeneration",
}


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    architecture = model.require_architecture()
    root = "language_model." if architecture == "BailingMoeV3VLForConditionalGeneration" else ""
    dense = model.text.integer("first_k_dense_replace")
    indices = [i for i in hidden_layers(model.text) if i >= dense]
    return with_draft(
        separate(_CLASSES[architecture], moe_layers(f"{root}model.layers.{{i}}.mlp", indices)),
        separate("BailingMoeV3MTPModel", moe_layers("model.layers.{i}.mlp", next_layers(model.text)), "draft"),
        target.draft,
    )


FAMILY = Family(name="bailing_moe_v3", architectures=_CLASSES, parts=_parts)
