"""DeepSeek-V4 and its vision class. Every layer has experts.

Source: models/deepseek_v4/amd/model.py:854,1111,1517, common/vl_model.py:105, amd/mtp.py:173,292 and
quant_config.py:33 at 0.33.0. A config with a vision tower is built by the vision class whatever it names
(transformers_utils/model_arch_config_convertor.py:575).
"""

import re
from dataclasses import replace

from fse_core.families.base import Family, Part
from fse_core.families.deepseek_v4_modes import W1_W3, decided, heterogeneous
from fse_core.families.moe_layers import Defaults, after, draft_count, known, layer_count, moe_layers, number
from fse_core.names import Renames
from fse_core.read.expert_dtype import expert_dtype
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_WRAPPER = "DeepseekV4ForConditionalGeneration"
_CLASSES = ("DeepseekV4ForCausalLM", _WRAPPER)
_PREFIX = "model.layers.{i}.ffn"
_DEFAULTS: Defaults = {"num_hidden_layers": 43, "n_shared_experts": 1}

_NAMES = Renames(
    regex=(
        (re.compile(r"(\.experts\.\d+\.w[123])\.scale$"), r"\1.weight_scale"),
        (re.compile(r"\.scale$"), ".weight_scale_inv"),
    ),
    substring={".shared_experts.w2": ".shared_experts.down_proj"},
    prefix={
        "layers.": "model.layers.",
        "embed.": "model.embed.",
        "norm.": "model.norm.",
        "hc_head": "model.hc_head",
        "mtp.": "model.mtp.",
    },
    suffix={
        "head.weight": "lm_head.weight",
        "embed.weight": "embed_tokens.weight",
        ".ffn.gate.bias": ".ffn.gate.e_score_correction_bias",
        ".input_scale": ".input_scale_2",
    },
)


def _defaults(model: Model) -> Defaults:
    return _DEFAULTS if model.model_type == "deepseek_v4" else {}


def _has_vision(model: Model) -> bool:
    if known(model, _CLASSES) == _WRAPPER:
        return True
    only = model.config.strings("architectures", []) == ["DeepseekV4ForCausalLM"]
    return only and model.model_type == "deepseek_v4" and model.config.integer("vision_n_layers", 0) > 0


def _target_part(model: Model, target: Target, release: Release, count: int, slots: int) -> Part:
    vision = _has_vision(model)
    prefix = f"language_model.{_PREFIX}" if vision else _PREFIX
    part = Part(
        model_class=_WRAPPER if vision else "DeepseekV4ForCausalLM",
        layers=moe_layers(prefix, range(count if slots else 0), slots),
        # The vision class has no mapper of its own, so the names lose their place under `language_model`.
        renames=(_NAMES,),
        packed=W1_W3,
    )
    if heterogeneous(model, target, release):
        return replace(part, always=True, mode="heterogeneous", one_answer=False)
    return decided(part, model, expert_dtype(model), target, release)


def _draft_part(model: Model, target: Target, release: Release, count: int, slots: int) -> Part | None:
    """The draft is never heterogeneous; its names move from `model.mtp` to the layers that follow the target's."""
    drafts = after(count, draft_count(model.config, "num_nextn_predict_layers", 1))
    if not slots or not drafts or model.model_type != "deepseek_v4":
        return None
    moved = Renames(prefix={f"model.mtp.{i}.": f"model.layers.{index}." for i, index in enumerate(drafts)})
    part = Part(
        model_class="DeepSeekV4MTP",
        layers=moe_layers(_PREFIX, drafts, slots),
        part="draft",
        one_answer=False,
        renames=(moved,),
        packed=W1_W3,
    )
    return decided(part, model, expert_dtype(model), target, release)


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    defaults = _defaults(model)
    count = layer_count(model.config, defaults)
    slots = number(model.config, "n_shared_experts", defaults) or 0
    part = _target_part(model, target, release, count, slots)
    draft = _draft_part(model, target, release, count, slots) if target.draft else None
    return (part, draft) if draft else (part,)


FAMILY = Family(name="deepseek_v4", architectures={name: name for name in _CLASSES}, parts=_parts)
