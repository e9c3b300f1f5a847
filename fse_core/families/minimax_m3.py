"""MiniMax-M3 and its multimodal class. The class reads the fusion variable alone, and never fuses with experts split.

Source: models/minimax_m3/amd/model.py:193,349,1704,1774 and amd/mtp.py:136,207 at 0.33.0.
"""

from collections.abc import Iterable
from typing import Any

from fse_core.families.base import Family, MoeLayer, Part
from fse_core.families.moe_layers import Defaults, draft_count, known, layer_count, moe_layers, number
from fse_core.names import GATE_UP, Packed, Rename, Renames
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.report import Failure, PartName
from fse_core.target import Target

_WRAPPER = "MiniMaxM3SparseForConditionalGeneration"
_CLASSES = ("MiniMaxM3SparseForCausalLM", _WRAPPER)
_NAMES = Renames(
    substring={".mlp.fc1": ".fc1", ".mlp.fc2": ".fc2"},
    prefix={
        "multi_modal_projector.": "vision_tower.multi_modal_projector.",
        "patch_merge_mlp.": "vision_tower.patch_merge_mlp.",
    },
)
_OWN_TYPES = ("minimax_m3_vl", "minimax_m3_mtp")
"""Model types that vLLM's own config class reads (transformers_utils/configs/minimax_m3.py at 0.33.0)."""

_DEFAULTS: Defaults = {"num_hidden_layers": 60, "n_shared_experts": 1}
_FREQUENCY = [0] * 3 + [1] * 57


def _frequency(model: Model) -> Any:
    """`moe_layer_freq` as the class sees it: None makes every layer sparse."""
    value = model.text.get("moe_layer_freq")
    return _FREQUENCY if value is None and model.model_type in _OWN_TYPES else value


def _defaults(model: Model) -> Defaults:
    return _DEFAULTS if model.model_type in _OWN_TYPES else {"n_shared_experts": None}


def _sparse(model: Model) -> list[int]:
    frequency = _frequency(model)
    indices = range(layer_count(model.text, _defaults(model)))
    if frequency is None:
        return list(indices)
    return [i for i in indices if isinstance(frequency, list) and i < len(frequency) and frequency[i] != 0]


def _no_list(model: Model) -> Failure | None:
    """The class takes the layer's entry from the list, before it builds the first layer."""
    frequency = _frequency(model)
    if frequency is None:
        return None
    if isinstance(frequency, (list, str)):
        short = len(frequency) < layer_count(model.text, _defaults(model))
        kind = "list" if isinstance(frequency, list) else "string"
        return Failure(type="IndexError", message=f"{kind} index out of range") if short else None
    return Failure(type="TypeError", message=f"{type(frequency).__name__!r} object is not subscriptable")


def _part(
    model: Model,
    target: Target,
    model_class: str,
    layers: tuple[MoeLayer, ...],
    *,
    part: PartName = "target",
    renames: tuple[Rename, ...] = (),
    packed: Packed | None = GATE_UP,
) -> Part:
    return Part(
        model_class=model_class,
        layers=layers,
        part=part,
        asks=not target.ep,
        request="environment",
        one_answer=part == "target",
        renames=renames,
        packed=packed,
        startup=_no_list(model) if part == "target" else None,
    )


def _layers(model: Model, indices: Iterable[int], root: str = "") -> tuple[MoeLayer, ...]:
    slots = number(model.text, "n_shared_experts", _defaults(model))
    return moe_layers(f"{root}model.layers.{{i}}.block_sparse_moe", indices, slots) if slots else ()


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    architecture = known(model, _CLASSES)
    wrapped = architecture == _WRAPPER
    layers = _layers(model, _sparse(model), "language_model." if wrapped else "")
    part = _part(model, target, architecture, layers, renames=(_NAMES,) if wrapped else ())
    if not (target.draft and wrapped):
        return (part,)
    # A draft's layers are always sparse, whatever the list says.
    drafted = _layers(model, range(draft_count(model.text, "num_mtp_modules", 1)))
    draft = _part(model, target, "MiniMaxM3MTP", drafted, part="draft", packed=None)
    return (part, draft) if drafted else (part,)


FAMILY = Family(name="minimax_m3", architectures={name: name for name in _CLASSES}, parts=_parts)
