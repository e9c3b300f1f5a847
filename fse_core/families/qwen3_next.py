"""Qwen3-Next.

Source: model_executor/models/qwen3_next.py:131,489 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.moe_layers import layer_count
from fse_core.families.qwen_layers import NEXT_DEFAULTS, next_draft, next_layers, require_shared_expert
from fse_core.names import GATE_UP
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    require_shared_expert(model.config, NEXT_DEFAULTS, target, release)
    layers = next_layers(model.config, range(layer_count(model.config, NEXT_DEFAULTS)), "model.layers.{i}.mlp")
    part = Part(model_class="Qwen3NextForCausalLM", layers=layers, packed=GATE_UP)
    draft = next_draft(model) if target.draft else None
    return (part, draft) if draft else (part,)


FAMILY = Family(name="qwen3_next", architectures={"Qwen3NextForCausalLM": "Qwen3NextForCausalLM"}, parts=_parts)
