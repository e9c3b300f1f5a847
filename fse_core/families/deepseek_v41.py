"""DeepSeek-V4.1, which is always built with its vision tower. Every layer has experts; no layer is checked against
the others, and no classic MTP draft is made of it.

Source: models/deepseek_v41/amd/model.py:86,152, amd/vl_model.py:120 and transformers_utils/configs/deepseek_v41.py
at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.deepseek_v4_modes import W1_W3, decided
from fse_core.families.moe_layers import layer_count, moe_layers, number
from fse_core.names import Renames
from fse_core.read.expert_dtype import expert_dtype
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.report import Failure
from fse_core.target import Target

_CLASS = "DeepseekV41ForCausalLM"

_NAMES = Renames(
    substring={".shared_experts.w2": ".shared_experts.down_proj"},
    prefix={
        "layers.": "language_model.model.layers.",
        "embed.": "language_model.model.embed.",
        "norm.": "language_model.model.norm.",
        "hc_head": "language_model.model.hc_head",
        "mtp.": "language_model.model.mtp.",
    },
)

_WITH_PCP = "DeepSeek-V4.1 PCP currently supports NVIDIA CUDA only."


def _holder(model: Model, key: str) -> Fields:
    """Where the class's config has `key` from: it lays the text config flat, and the file's own top level over it."""
    return model.config if key in model.config else model.text


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    count = layer_count(_holder(model, "num_hidden_layers"), {})
    slots = number(_holder(model, "n_shared_experts"), "n_shared_experts", {}) or 0
    nameless = release.has("deepseek_v41_maps_no_names")
    refuses_pcp = release.has("deepseek_v41_refuses_pcp") and target.pcp > 1
    part = Part(
        model_class=_CLASS,
        layers=moe_layers("language_model.model.layers.{i}.ffn", range(count if slots else 0), slots),
        one_answer=False,
        renames=() if nameless else (_NAMES,),
        packed={} if nameless else W1_W3,
        startup=Failure(type="NotImplementedError", message=_WITH_PCP) if refuses_pcp else None,
    )
    return (decided(part, model, expert_dtype(model), target, release),)


FAMILY = Family(name="deepseek_v41", architectures={_CLASS: _CLASS}, parts=_parts)
