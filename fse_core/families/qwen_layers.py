"""What Qwen3-Next and its successors share: one gated shared expert beside the routed ones, with a width of its own.

Source: model_executor/models/qwen3_next.py:131 at 0.33.0.
"""

from collections.abc import Iterable

from fse_core.families.base import MoeLayer
from fse_core.families.moe_layers import Defaults, moe_layers, number
from fse_core.names import Renames
from fse_core.read.getters import Fields

VISION_NAMES = Renames(
    prefix={
        "model.visual.": "visual.",
        "lm_head.": "language_model.lm_head.",
        "model.language_model.": "language_model.model.",
    }
)
"""How the classes built on Qwen3VLForConditionalGeneration rename (qwen3_vl.py:1969 at 0.33.0)."""

TEXT_NAMES = Renames(prefix={"model.language_model.": "model."})
"""How their text-only classes rename (qwen3_5.py:328, models/qwen4_exp/amd/model.py:673 at 0.33.0)."""


def gated_layers(
    config: Fields, defaults: Defaults, indices: Iterable[int], prefix: str = "model.layers.{i}.mlp"
) -> tuple[MoeLayer, ...]:
    """The layers at `indices`, where the shared expert has a width at all. There is always one slot."""
    if not number(config, "shared_expert_intermediate_size", defaults):
        return ()
    return moe_layers(prefix, indices, 1, shared_name="shared_expert")
