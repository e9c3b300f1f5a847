"""Step5, alone and multimodal, and the draft layers that its list of MoE layers names.

Source: vllm/models/step5/nvidia/model.py:256,1762,1942, nvidia/vl.py:13 and nvidia/mtp.py:153 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, next_layers, require_inner, separate, with_draft
from fse_core.families.step3_text import enumerated
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASSES = {
    "Step5ForCausalLM": "Step5ForCausalLM",
    "Step5ForConditionalGeneration": "Step5ForConditionalGeneration",
}


def _sparse(text: Fields) -> set[int]:
    for key in ("moe_layers_enum", "moe_layer_list"):
        named = enumerated(text, key)
        if named is not None:
            return set(named)
    return set(hidden_layers(text)[1:])


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    architecture = model.require_architecture()
    root = "language_model." if architecture == "Step5ForConditionalGeneration" else ""
    if root:
        require_inner(architecture, model.text, "Step5ForCausalLM")
    sparse = _sparse(model.text)
    built = [i for i in hidden_layers(model.text) if i in sparse]
    drafted = [i for i in next_layers(model.text) if i in sparse]
    return with_draft(
        separate(_CLASSES[architecture], moe_layers(f"{root}model.layers.{{i}}.moe", built, "share_expert")),
        separate("Step5MTP", moe_layers("model.layers.{i}.mtp_block.moe", drafted, "share_expert"), "draft"),
        target.draft,
    )


FAMILY = Family(name="step5", architectures=_CLASSES, parts=_parts)
