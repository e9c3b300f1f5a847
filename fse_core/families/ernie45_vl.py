"""ERNIE 4.5 VL: text and vision experts in one MoE module, with one shared expert for both.

Source: vllm/model_executor/models/ernie45_vl_moe.py:235,252,289,418 and ernie45_vl.py:1421 at 0.33.0.
"""

from fse_core.families.base import Family, MoeLayer, Part
from fse_core.families.never_fuse import hidden_layers, separate
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASS = "Ernie4_5_VLMoeForConditionalGeneration"


def _layers(text: Fields) -> list[MoeLayer]:
    if text.integer("moe_num_shared_experts", 0) == 0 or not text.boolean("use_moe", True):
        return []
    last = text.integer("num_hidden_layers") - 1
    starts = text.integers("moe_layer_start_index")
    ends = text.integers("moe_layer_end_index", [last, last])
    interval = text.integer("moe_layer_interval", 1, least=1)
    layers = []
    for i in hidden_layers(text):
        experts = [n for n, s, e in zip(("text_experts", "vision_experts"), starts, ends, strict=False) if s <= i <= e]
        if experts and (i + 1) % interval == 0:
            prefix = f"language_model.model.layers.{i}.mlp"
            layers.append(MoeLayer(index=i, prefix=prefix, slots=0, experts_name=experts[0]))
    return layers


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    return (separate(_CLASS, tuple(_layers(model.text))),)


FAMILY = Family(name="ernie45_vl", architectures={_CLASS: _CLASS}, parts=_parts)
