"""GLM-4.5, 4.6 and 4.7, and the vision-language class around them.

Source: model_executor/models/glm4_moe.py:119,355, glm4_moe_mtp.py:131 and glm4_1v.py:2381 at 0.33.0.
"""

from collections.abc import Iterable

from fse_core.families.base import Family, MoeLayer, Part
from fse_core.families.moe_layers import Defaults, after, draft_count, known, layer_count, moe_layers, number
from fse_core.names import GATE_UP, Renames
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_WRAPPER = "Glm4vMoeForConditionalGeneration"
_CLASSES = ("Glm4MoeForCausalLM", _WRAPPER)

_DEFAULTS: Defaults = {
    "num_hidden_layers": 46,
    "n_routed_experts": 128,
    "n_shared_experts": 1,
    "first_k_dense_replace": 1,
}

VISION_NAMES = Renames(
    prefix={
        "lm_head.": "language_model.lm_head.",
        "model.language_model.": "language_model.model.",
        "model.visual.": "visual.",
    }
)
"""How Glm4vForConditionalGeneration and what is built on it rename (glm4_1v.py:1754 at 0.33.0)."""


def _layers(config: Fields, indices: Iterable[int], root: str = "") -> tuple[MoeLayer, ...]:
    """Every layer from the first sparse one on: this class knows no `moe_layer_freq`."""
    slots = number(config, "n_shared_experts", _DEFAULTS)
    if slots is None or number(config, "n_routed_experts", _DEFAULTS) is None:
        return ()
    first = number(config, "first_k_dense_replace", _DEFAULTS) or 0
    return moe_layers(f"{root}model.layers.{{i}}.mlp", [i for i in indices if i >= first], slots)


def _wrapped(model: Model) -> tuple[Part, ...]:
    return (
        Part(
            model_class=_WRAPPER,
            layers=_layers(model.text, range(layer_count(model.text, _DEFAULTS)), "language_model."),
            renames=(VISION_NAMES,),
            packed=GATE_UP,
        ),
    )


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    if known(model, _CLASSES) == _WRAPPER:
        return _wrapped(model)
    count = layer_count(model.config, _DEFAULTS)
    part = Part(model_class="Glm4MoeForCausalLM", layers=_layers(model.config, range(count)), packed=GATE_UP)
    drafts = draft_count(model.config, "num_nextn_predict_layers", 1, alias="num_mtp_layers") if target.draft else 0
    drafted = _layers(model.config, after(count, drafts))
    draft = Part(model_class="Glm4MoeMTP", layers=drafted, part="draft", packed=None)
    return (part, draft) if drafted else (part,)


FAMILY = Family(name="glm4_moe", architectures={name: name for name in _CLASSES}, parts=_parts)
