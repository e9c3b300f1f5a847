"""Intern-S2-Mobius: banks of routed experts that layers share, a gated shared expert in each layer.

Its draft layers are Qwen3.5's and ask for fusion.
Source: vllm/model_executor/models/interns2_mobius.py:69,142,446, qwen3_5_mtp.py:117 and config/speculative.py:1008
at 0.33.0.
"""

from fse_core.families.base import Family, MoeLayer, Part
from fse_core.families.moe_layers import draft_count
from fse_core.families.never_fuse import hidden_layers, with_draft
from fse_core.families.qwen_layers import VISION_NAMES, gated_layers
from fse_core.names import GATE_UP
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASS = "InternS2MobiusForConditionalGeneration"


def _target_layers(text: Fields) -> tuple[MoeLayer, ...]:
    banks = text.integer("num_blocks", least=1)
    return tuple(
        MoeLayer(
            index=i,
            prefix="language_model.model",
            slots=0,
            shared_name=f"layers.{i}.mlp.shared_expert",
            experts_name=f"meta_mlp.{i % banks}.experts",
        )
        for i in hidden_layers(text)
    )


def _draft_layers(text: Fields) -> tuple[MoeLayer, ...]:
    count = draft_count(text, "mtp_num_hidden_layers", None)
    return gated_layers(text, {}, range(count), "mtp.layers.{i}.mlp") if count else ()


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    # The target renames and packs for the draft, which takes over its quantization config.
    built = Part(
        model_class=_CLASS,
        layers=_target_layers(model.text),
        asks=False,
        one_answer=False,
        renames=(VISION_NAMES,),
        packed=GATE_UP,
    )
    draft = Part(model_class="InternS2MobiusMTP", layers=_draft_layers(model.text), part="draft", packed=GATE_UP)
    return with_draft(built, draft, target.draft)


FAMILY = Family(name="interns2_mobius", architectures={_CLASS: _CLASS}, parts=_parts)
