"""Fusion together with expert parallelism was reported to give gibberish.

Under expert parallelism AITER takes the last column of the chosen experts for a dummy and leaves it out; with fusion
that column can be the shared expert. DeepSeek's, GLM-4's and Qwen's classes do not look at expert parallelism (those of
MiniMax-M3, DeepSeek-V4 and GLM-5.3-Flash switch fusion off). It was reported of builds of September 2026, and not
measured here. In the source of 0.33.0 the routers of DeepSeek-V3's groups and of Qwen add a dummy column of their own
(model_executor/layers/fused_moe/expert_map_manager.py:266), and the one for a bias without groups does not
(router/fused_topk_bias_router.py:452), so that not every model need be struck: one evaluation with fusion on and off on
the same GPUs settles it.
"""

from collections.abc import Iterator

from fse_core import request
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, Rule, where

RULE = Rule(id="FSE106", name="experts-split", severity="warning", confidence="likely")


def check(facts: Facts) -> Iterator[Hit]:
    """The fused layers of each part."""
    target = facts.target
    if not target.ep or target.tp * target.dp == 1 or facts.failure is not None:
        return
    if not request.aiter_moe(target, facts.release) or target.moe_backend not in ("auto", "aiter"):
        return
    for part in facts.parts:
        layers = tuple(layer for layer in part.fused() if layer.mode == "aiter")
        if layers:
            yield Hit(
                message=f"{where(layers)}: fused with the experts split over {target.tp * target.dp} GPUs. AITER was "
                "reported to leave out the shared expert then, without a word; an evaluation with fusion on and off "
                "tells.",
                consequence="silent_corruption",
                layers=layers,
                evidence=("reported in ROCm/aiter#5595; vLLM does not guard this class's path at 0.33.0 (read)",),
                fixes=(fixes.fusion_off(),),
            )
