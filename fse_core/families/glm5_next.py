"""GLM-5.3-Flash and its multimodal class, which decline in words of their own where AITER has no tuned kernels.

Source: models/glm5next/common/model.py:220,417,1047,1145,1297 and common/mtp.py:109 at 0.33.0.
"""

from collections.abc import Iterable, Iterator

from fse_core.families.base import Family, MoeLayer, Part
from fse_core.families.glm4_moe import VISION_NAMES
from fse_core.families.moe_layers import Defaults, after, draft_count, known, layer_count, moe_layers, number
from fse_core.names import GATE_UP
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_WRAPPER = "Glm5NextForConditionalGeneration"
_CLASSES = ("Glm5NextForCausalLM", _WRAPPER)
_DEFAULTS: Defaults = {"num_hidden_layers": 45, "n_routed_experts": 288, "n_shared_experts": 1}


def _declines(target: Target) -> Iterator[str]:
    """What the class logs when it declines, in its order."""
    if target.gfx != "gfx950":
        yield "the GPU is not gfx950"
    if target.tp not in (4, 8):
        yield f"tensor_parallel_size is {target.tp}"
    if target.dp != 1:
        yield f"data_parallel_size is {target.dp}"
    if target.pcp != 1:
        yield f"prefill_context_parallel_size is {target.pcp}"
    if target.ep:
        yield "expert parallelism is enabled"


def _types(config: Fields, count: int, release: Release) -> list[str]:
    dense = 3
    if release.has("glm5_next_counts_dense_layers"):  # transformers_utils/configs/glm5_next.py:185 at 0.31.0
        dense = config.optional_integer("first_k_dense_replace") or 0
    return config.strings("mlp_layer_types", ["dense" if i < dense else "sparse" for i in range(count)])


def _layers(config: Fields, types: list[str], indices: Iterable[int], root: str = "") -> tuple[MoeLayer, ...]:
    """Layers past the end of the list are like its last one; with an empty list all are sparse."""
    slots = number(config, "n_shared_experts", _DEFAULTS)
    if not slots or number(config, "n_routed_experts", _DEFAULTS) is None:
        return ()
    last = types[-1] if types else "sparse"
    sparse = [i for i in indices if (types[i] if i < len(types) else last) == "sparse"]
    return moe_layers(f"{root}model.layers.{{i}}.mlp", sparse, slots)


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    config = model.text
    architecture = known(model, _CLASSES)
    wrapped = architecture == _WRAPPER
    count = layer_count(config, _DEFAULTS)
    types = _types(config, count, release)
    declines = tuple(_declines(target))
    part = Part(
        model_class=architecture,
        layers=_layers(config, types, range(count), "language_model." if wrapped else ""),
        declines=declines,
        renames=(VISION_NAMES,) if wrapped else (),
        # The text-only class names no packed modules of its own.
        packed=GATE_UP if wrapped else {},
    )
    drafting = target.draft and model.model_type == "glm5_next"
    next_layers = after(count, draft_count(config, "num_nextn_predict_layers", None)) if drafting else ()
    drafted = _layers(config, types, next_layers)
    draft = Part(model_class="Glm5NextMTP", layers=drafted, part="draft", declines=declines, packed=None)
    return (part, draft) if drafted else (part,)


FAMILY = Family(name="glm5_next", architectures={name: name for name in _CLASSES}, parts=_parts)
