"""Qwen4-Exp and its multimodal class.

Source: models/qwen4_exp/amd/model.py:165,252,650,883 and amd/mtp.py:121,176 at 0.33.0. The draft reads its own copy of
the quantization block.
"""

import re

from fse_core.families.base import Family, Part
from fse_core.families.moe_layers import Defaults, after, draft_count, known, layer_count
from fse_core.families.qwen_layers import TEXT_NAMES, VISION_NAMES, gated_layers
from fse_core.names import GATE_UP, Rename
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_DEFAULTS: Defaults = {"num_hidden_layers": 40, "shared_expert_intermediate_size": 512}
_WRAPPER = "Qwen4ExpForConditionalGeneration"
_CLASSES = ("Qwen4ExpForCausalLM", _WRAPPER)
_LAYER = re.compile(r"(?<=\.layers\.)\d+")


def _counted_on(first: int) -> Rename:
    """Layer numbers of `mtp.` names, counted on from the target's layers (amd/mtp.py:63 at 0.33.0)."""

    def rename(name: str) -> str:
        return _LAYER.sub(lambda found: str(first + int(found[0])), name) if name.startswith("mtp.") else name

    return rename


def _draft_part(model: Model, first: int) -> Part:
    indices = after(first, draft_count(model.text, "mtp_num_hidden_layers", 1))
    block = model.quantization
    # Only lists of ignored, excluded or quantized layers are counted on, which Quark's block is not.
    quark = block is not None and block.fields.get("quant_method") == "quark"
    return Part(
        model_class="Qwen4ExpMTP",
        layers=gated_layers(model.text, _DEFAULTS, indices, "mtp.layers.{i}.mlp"),
        part="draft",
        renames=() if quark else (_counted_on(first),),
        packed=GATE_UP,
        quantization="own",
    )


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    architecture = known(model, _CLASSES)
    wrapped = architecture == _WRAPPER
    count = layer_count(model.text, _DEFAULTS)
    root = "language_model." if wrapped else ""
    part = Part(
        model_class=architecture,
        layers=gated_layers(model.text, _DEFAULTS, range(count), f"{root}model.layers.{{i}}.mlp"),
        renames=(VISION_NAMES if wrapped else TEXT_NAMES,),
        packed=GATE_UP,
    )
    if not target.draft or model.model_type not in ("qwen4_exp", "qwen4_exp_text"):
        return (part,)
    draft = _draft_part(model, count)
    return (part, draft) if draft.layers else (part,)


FAMILY = Family(name="qwen4_exp", architectures={name: name for name in _CLASSES}, parts=_parts)
