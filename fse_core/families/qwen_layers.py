"""What Qwen3-Next and its successors share: one gated shared expert beside the routed ones, with a width of its own.

Source: model_executor/models/qwen3_next.py:131 at 0.33.0.
"""

from collections.abc import Iterable
from dataclasses import replace

from fse_core import request
from fse_core.errors import Undecided
from fse_core.families.base import MoeLayer, Part
from fse_core.families.moe_layers import Defaults, draft_count, moe_layers, number
from fse_core.names import GATE_UP, Renames
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.report import Failure
from fse_core.target import Target

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


_NO_LAYER = "No Qwen3Next layer found in the model.layers."

NEXT_DEFAULTS: Defaults = {"num_hidden_layers": 48, "num_experts": 512, "shared_expert_intermediate_size": 512}
"""What Qwen3-Next's config class fills in."""


def gated_layers(
    config: Fields, defaults: Defaults, indices: Iterable[int], prefix: str = "model.layers.{i}.mlp"
) -> tuple[MoeLayer, ...]:
    """The layers at `indices`, where the shared expert has a width at all. There is always one slot."""
    if not number(config, "shared_expert_intermediate_size", defaults):
        return ()
    return moe_layers(prefix, indices, 1, shared_name="shared_expert")


def require_shared_expert(config: Fields, defaults: Defaults, target: Target, release: Release) -> None:
    """Undecided where a class builds a slot for a shared expert that the config says there is none of.

    Source: model_executor/models/qwen3_next.py:168,195 at 0.28.0. No published model is like that.
    """
    builds = release.has("qwen_slot_without_shared_expert") and request.refusal("aiter", target, release) is None
    if builds and not number(config, "shared_expert_intermediate_size", defaults):
        raise Undecided(f"vLLM {release.version} builds a fused slot for a shared expert of width 0")


def next_layers(config: Fields, indices: Iterable[int], prefix: str) -> tuple[MoeLayer, ...]:
    """Qwen3-Next's layers. A draft's count from 0 and obey the same rule as the target's."""
    if not number(config, "num_experts", NEXT_DEFAULTS):
        return ()
    dense = set(config.integers("mlp_only_layers", []))
    step = config.integer("decoder_sparse_step", 1, least=1)
    sparse = [i for i in indices if i not in dense and (i + 1) % step == 0]
    return gated_layers(config, NEXT_DEFAULTS, sparse, prefix)


def next_draft(model: Model) -> Part | None:
    """Qwen3-Next's draft, which the model type asks for (qwen3_next_mtp.py:63 at 0.33.0)."""
    if model.model_type != "qwen3_next":
        return None
    count = draft_count(model.config, "num_nextn_predict_layers", 1)
    if not count or not number(model.config, "num_experts", NEXT_DEFAULTS):
        return None
    layers = next_layers(model.config, range(count), "mtp.layers.{i}.mlp")
    part = Part(model_class="Qwen3NextMTP", layers=layers, part="draft", packed=GATE_UP)
    if layers or not number(model.config, "shared_expert_intermediate_size", NEXT_DEFAULTS):
        return part if layers else None
    # The draft wants a layer with experts, and by the rule it has none.
    return replace(part, startup=Failure(type="RuntimeError", message=_NO_LAYER))
