"""AliceAI.

Source: model_executor/models/alice_ai.py:191,325,579 at 0.33.0. A draft is made only of a config that calls itself
Qwen3-Next, whose draft it then is.
"""

from fse_core.families.base import Family, Part
from fse_core.families.moe_layers import layer_count, number
from fse_core.families.qwen_layers import gated_layers, next_draft
from fse_core.names import GATE_UP, Renames
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.report import Failure
from fse_core.target import Target


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    sparse = bool(number(model.text, "num_experts", {}))
    count = layer_count(model.text, {}) if sparse else 0
    no_experts = Failure(type="ValueError", message="AliceAI requires sparse experts")
    part = Part(
        model_class="AliceAIForCausalLM",
        layers=gated_layers(model.text, {}, range(count)),
        # The class's mapper only drops weights, yet the block passes through it.
        renames=(Renames(),),
        packed=GATE_UP,
        startup=None if sparse else no_experts,
    )
    draft = next_draft(model) if target.draft else None
    return (part, draft) if draft else (part,)


FAMILY = Family(name="alice_ai", architectures={"AliceAIForCausalLM": "AliceAIForCausalLM"}, parts=_parts)
