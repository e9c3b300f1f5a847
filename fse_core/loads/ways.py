"""How a release's classes bring the tensors of a checkpoint to the parameters of their experts.

Source: model_executor/models/deepseek_v2.py:1662, AXK1.py:893, glm4_moe_lite.py:438, utils.py:505 (GLM-4.x, Qwen),
models/deepseek_v32/amd/model.py:311 and models/minimax_m3/amd/model.py:1634 at 0.33.0. Of drafts: deepseek_mtp.py:287,
glm4_moe_mtp.py:248, glm4_moe_lite_mtp.py:274, qwen3_next_mtp.py:164, qwen3_5_mtp.py:193,
models/deepseek_v32/amd/mtp.py:260 and models/minimax_m3/amd/mtp.py:347.
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
    fills: whether it brings anything to the slots of shared experts.
    batched: what becomes of routed experts that are stored in one tensor: they are `cut` out of it, or it is `refused`
        or `passed` over as one without a parameter; None where that is not known.
    homes: where a draft's class looks for the tensors of its layer, `{}` the layer's number; empty for a target's.
    absent: the exception where there is nothing of a draft's layer, None where the class does not look.
    """

    cut: Literal["looks", "blind", "none"]
    skips: bool = False
    beyond: bool = False
    inverse: bool = False
    error: str = "AssertionError"
    nowhere: str = "KeyError"
    fills: bool = True
    batched: Literal["cut", "refused", "passed"] | None = None
    homes: tuple[str, ...] = ()
    absent: str | None = None

    def heads(self, number: int) -> tuple[str, ...]:
        """What the names of a draft's layer may begin with."""
        return tuple(home.format(number) for home in self.homes)


_IN_LOOP: Final = Way(cut="looks", batched="refused")
_HELPER: Final = Way(cut="looks", beyond=True, error="ValueError", nowhere="AttributeError")
_RENAMES: Final = Way(cut="none", skips=True, beyond=True, inverse=True)
_AFTER: Final = ("model.layers.{}", "layers.{}", "model.language_model.layers.{}")
_NEXT: Final = replace(_IN_LOOP, homes=_AFTER, absent="ValueError")
_OWN: Final = replace(_HELPER, homes=("mtp.layers.{}",))
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
    "DeepSeekMTP": _NEXT,
    "DeepseekV32MTP": _NEXT,
    "Glm4MoeLiteMTP": replace(_NEXT, cut="blind", absent=None),
    "Glm4MoeMTP": replace(_NEXT, error="ValueError", absent=None),
    "Qwen3NextMTP": _OWN,
    "Qwen3_5MoeMTP": _OWN,
    "MiniMaxM3MTP": replace(
        _RENAMES,
        fills=False,
        homes=("language_model.model.mtp.layers.{}", "model.mtp.layers.{}"),
        absent="ValueError",
    ),
}  # fmt: skip
_GLM: Final = ("Glm4MoeForCausalLM", "Glm4vMoeForConditionalGeneration")
_QWEN: Final = ("Qwen3NextForCausalLM", "Qwen3_5MoeForCausalLM", "Qwen3_5MoeForConditionalGeneration")

_QWEN_DRAFTS: Final = ("Qwen3NextMTP", "Qwen3_5MoeMTP")


def way(model_class: str, release: Release) -> Way | None:
    """The way of a vLLM class in this release, None where it is not known."""
    found = _WAYS.get(model_class) if release.has("experts_load_as_told") else None
    if found is None:
        return None
    if model_class in _GLM and release.has("glm4_moe_loads_in_a_loop"):
        return replace(_IN_LOOP, error="ValueError")
    if model_class in (*_QWEN, *_QWEN_DRAFTS) and release.has("qwen_renames_shared_expert"):
        found = replace(found, cut="none")
        if model_class in _QWEN_DRAFTS and release.has("qwen_loads_in_a_loop"):
            fills = model_class == _QWEN_DRAFTS[0]
            in_loop = replace(found, nowhere="KeyError", beyond=False, fills=fills)
            return replace(in_loop, batched="refused" if fills else None)
        if release.has("qwen_loads_in_a_loop"):
            skips = model_class == _QWEN[0]
            return replace(found, nowhere="KeyError", skips=skips, batched="passed" if skips else None)
    return replace(found, batched="cut") if found.beyond and release.has("batched_experts_are_cut") else found
