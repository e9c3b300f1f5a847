"""How a release's classes bring the tensors of a checkpoint to the parameters of their experts.

Source: model_executor/models/deepseek_v2.py:1662, AXK1.py:893, glm4_moe_lite.py:438, utils.py:505 (GLM-4.x, Qwen),
models/deepseek_v32/amd/model.py:311 and models/minimax_m3/amd/model.py:1634 at 0.33.0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from fse_core.releases.release import Release


@dataclass(frozen=True, kw_only=True)
class Way:
    """One class's.

    cut: whether it cuts a shared expert's tensor into one piece a slot: along the second dimension of the down
        projection's where there is one (`looks`), or without a look (`blind`); with `none` the tensor is renamed and
        goes to the first slot.
    skips: a tensor that has no parameter is passed over; elsewhere it ends loading. beyond: the same for a routed
        expert with a number that there is none of.
    inverse: scales that are called weight_scale_inv are taken for weight_scale.
    error: the exception of a tensor that cannot be cut evenly, and nowhere: of one without a parameter.
    """

    cut: Literal["looks", "blind", "none"]
    skips: bool = False
    beyond: bool = False
    inverse: bool = False
    error: str = "AssertionError"
    nowhere: str = "KeyError"


_IN_LOOP: Final = Way(cut="looks")
_HELPER: Final = Way(cut="looks", beyond=True, error="ValueError", nowhere="AttributeError")
_RENAMES: Final = Way(cut="none", skips=True, beyond=True, inverse=True)
_WAYS: Final[Mapping[str, Way]] = {
    **dict.fromkeys(
        (
            "DeepseekForCausalLM", "DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM",
            "GlmMoeDsaForCausalLM", "AXK1ForCausalLM", "KimiK25ForConditionalGeneration",
            "KimiVLForConditionalGeneration", "DeepseekOCRForCausalLM", "DeepseekOCR2ForCausalLM",
            "UnlimitedOCRForCausalLM",
        ),
        _IN_LOOP,
    ),
    "Glm4MoeLiteForCausalLM": replace(_IN_LOOP, cut="blind"),
    **dict.fromkeys(
        (
            "Glm4MoeForCausalLM", "Glm4vMoeForConditionalGeneration", "Qwen3NextForCausalLM", "Qwen3_5MoeForCausalLM",
            "Qwen3_5MoeForConditionalGeneration", "InternS2PreviewForConditionalGeneration", "Qwen4ExpForCausalLM",
            "Qwen4ExpForConditionalGeneration", "AliceAIForCausalLM",
        ),
        _HELPER,
    ),
    "MiniMaxM3SparseForCausalLM": _RENAMES,
    "MiniMaxM3SparseForConditionalGeneration": _RENAMES,
}  # fmt: skip
_GLM: Final = ("Glm4MoeForCausalLM", "Glm4vMoeForConditionalGeneration")
_QWEN: Final = ("Qwen3NextForCausalLM", "Qwen3_5MoeForCausalLM", "Qwen3_5MoeForConditionalGeneration")


def way(model_class: str, release: Release) -> Way | None:
    """The way of a vLLM class in this release, None where it is not known."""
    found = _WAYS.get(model_class) if release.has("experts_load_as_told") else None
    if found is None:
        return None
    if model_class in _GLM and release.has("glm4_moe_loads_in_a_loop"):
        return replace(_IN_LOOP, error="ValueError")
    if model_class in _QWEN and release.has("qwen_renames_shared_expert"):
        found = replace(found, cut="none")
        if release.has("qwen_loads_in_a_loop"):
            return replace(found, nowhere="KeyError", skips=model_class == _QWEN[0])
    return found
