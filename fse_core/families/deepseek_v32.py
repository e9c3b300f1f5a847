"""DeepSeek V3.2 and GLM-5 (sparse attention over DeepSeek's MoE layers).

Source: models/deepseek_v32/amd/model.py:46,133 and amd/mtp.py:103 at 0.33.0; one class builds both on ROCm.
"""

from fse_core.families.base import Family, Part
from fse_core.families.deepseek_layers import DEFAULTS, draft_part, target_part
from fse_core.names import GATE_UP
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASS = "DeepseekV32ForCausalLM"


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    defaults = DEFAULTS.get(model.model_type, {})
    part = target_part(_CLASS, model.config, defaults, packed=GATE_UP)
    draft = draft_part(model) if target.draft else None
    return (part, draft) if draft else (part,)


FAMILY = Family(
    name="deepseek_v32",
    architectures={"DeepseekV32ForCausalLM": _CLASS, "GlmMoeDsaForCausalLM": _CLASS},
    parts=_parts,
)
