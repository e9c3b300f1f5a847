"""Nemotron-H (Nemotron 3), its omni-modal wrappers and its draft layer. Its experts have no gate projection.

Source: vllm/model_executor/models/nemotron_h.py:178,596, nano_nemotron_vl.py:986 and nemotron_h_mtp.py:243 at 0.33.0;
the config class turns the letters of a pattern into layer types, and a list of types wins.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import moe_layers, require_inner, separate, with_draft
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASSES = {
    "NemotronHForCausalLM": "NemotronHForCausalLM",
    "NemotronHPuzzleForCausalLM": "NemotronHForCausalLM",
    "NemotronH_Nano_VL_V2": "NemotronH_Nano_VL_V2",
    "NemotronH_Nano_Omni_Reasoning_V3": "NemotronH_Nano_VL_V2",
    "NemotronH_Super_Omni_Reasoning_V3": "NemotronH_Nano_VL_V2",
    "NemotronH_Omni_Reasoning_V3": "NemotronH_Nano_VL_V2",
}
_UNDRAFTED = ("NemotronH_Nano_VL_V2", "NemotronH_Nano_Omni_Reasoning_V3")


def _target_indices(text: Fields) -> list[int]:
    for key in ("layer_types", "layers_block_type"):
        if text.get(key) is not None:
            return [i for i, kind in enumerate(text.strings(key)) if kind == "moe"]
    return [i for i, letter in enumerate(text.string("hybrid_override_pattern")) if letter == "E"]


def _draft_indices(text: Fields) -> list[int]:
    # The draft class refuses more than one step.
    if text.integer("num_nextn_predict_layers", 0) != 1:
        return []
    kinds = text.strings("mtp_layers_block_type", ["full_attention", "moe"])
    letters = text.optional_string("mtp_hybrid_override_pattern")
    if letters is not None and kinds in (["full_attention", "moe"], ["attention", "moe"]):
        return [i for i, letter in enumerate(letters) if letter == "E"]
    return [i for i, kind in enumerate(kinds) if kind == "moe"]


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    architecture = model.require_architecture()
    root = "language_model." if "ForCausalLM" not in architecture else ""
    if root:
        require_inner(architecture, model.text, "NemotronHForCausalLM")
    shared = model.text.integer("n_shared_experts", 1) > 0
    built = moe_layers(f"{root}model.layers.{{i}}.mixer", _target_indices(model.text) if shared else [])
    draft = moe_layers("mtp.layers.{i}.mixer", _draft_indices(model.text) if shared else [])
    return with_draft(
        separate(_CLASSES[architecture], built, gated=False),
        separate("NemotronHMTP", draft, "draft", gated=False),
        target.draft and architecture not in _UNDRAFTED,
    )


FAMILY = Family(name="nemotron_h", architectures=_CLASSES, parts=_parts)
