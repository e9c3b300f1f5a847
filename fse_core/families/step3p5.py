"""Step 3.5 and 3.7, alone and multimodal, and the draft layers that are sparse.

Source: vllm/model_executor/models/step3p5.py:112,379, step3p7.py:71 and step3p5_mtp.py:107 at 0.33.0; the config class
spreads `mlp_layer_types` or `moe_layers_enum` over target and draft, and takes layers from the fourth on by default.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, next_layers, require_inner, separate, with_draft
from fse_core.families.step3_text import enumerated
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASSES = {
    "Step3p5ForCausalLM": "Step3p5ForCausalLM",
    "Step3p7ForConditionalGeneration": "Step3p7ForConditionalGeneration",
}


def _sparse(text: Fields, release: Release) -> set[int]:
    if release.has("step3p5_lists_layers_by_number"):  # model_executor/models/step3p5.py:470 at 0.32.0
        listed = enumerated(text, "moe_layers_enum")
        return set(hidden_layers(text)[1:] if listed is None else listed)
    if text.get("mlp_layer_types") is not None:
        types = text.strings("mlp_layer_types") + text.strings("mtp_mlp_layer_types", [])
        return {i for i, kind in enumerate(types) if kind == "sparse"}
    named = enumerated(text, "moe_layers_enum")
    return set(hidden_layers(text)[3:] if named is None else named)


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    architecture = model.require_architecture()
    root = "language_model." if architecture == "Step3p7ForConditionalGeneration" else ""
    if root:
        require_inner(architecture, model.text, "Step3p5ForCausalLM")
    sparse = _sparse(model.text, release)
    built = [i for i in hidden_layers(model.text) if i in sparse]
    drafted = [i for i in next_layers(model.text) if i in sparse]
    return with_draft(
        separate(_CLASSES[architecture], moe_layers(f"{root}model.layers.{{i}}.moe", built, "share_expert")),
        separate("Step3p5MTP", moe_layers("model.layers.{i}.mtp_block.moe", drafted, "share_expert"), "draft"),
        target.draft,
    )


FAMILY = Family(name="step3p5", architectures=_CLASSES, parts=_parts)
