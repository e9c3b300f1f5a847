"""The clamp of the experts' activation is lost on the way to AITER's kernels.

DeepSeek-V4's classes state `swiglu_limit`: before SiLU is applied, both halves of an expert are clamped to it. A shared
expert that is a module of its own clamps in its activation (models/deepseek_v4/amd/model.py:136 at 0.33.0); a fused one
is clamped only if the kernel of the routed experts does it. Up to 0.29.0 vLLM hands AITER no limit, and AITER's default
is none (model_executor/layers/fused_moe/experts/rocm_aiter_moe.py:393 and _aiter_ops.py:232 at 0.29.0). From 0.30.0 on
it hands the limit over (:427 at 0.30.0), and AITER's CK kernels, which gfx942 gets, were reported not to keep it. What
comes of it hangs on how often an activation is beyond the limit; an evaluation with AITER's MoE off tells.

Triton's kernels and the emulation clamp: on gfx942 they run experts in MXFP4. Nothing is said of MiniMax-M3, whose own
activation has its clamp in AITER, nor of GLM-5.3-Flash, which fuses on gfx950 alone, where AITER gets the limit.
"""

import math
from collections.abc import Iterator
from typing import Final

from fse_core import request
from fse_core.quantization.storage import FP8_BLOCK, MXFP4, PLAIN, Storage
from fse_core.read.expert_dtype import expert_dtype
from fse_core.report import Fix, Layer
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where

RULE = Rule(id="FSE137", name="scaling-clamp", severity="warning", confidence="likely")

_LIMIT: Final = "swiglu_limit"
_CLASSES: Final = ("DeepseekV4", "DeepSeekV4")
"""How the classes are called that read the limit, apply SiLU, and may fuse where AITER loses it."""

_GIVEN: Final = "0.30.0"


def check(facts: Facts) -> Iterator[Hit]:
    """The fused layers of each part whose experts AITER runs without the clamp."""
    limit, target = facts.model.text.get(_LIMIT), facts.target
    if not isinstance(limit, int | float) or not 0 < limit < math.inf or facts.failure is not None:
        return
    if not request.aiter_moe(target, facts.release) or target.moe_backend not in ("auto", "aiter"):
        return
    for part in facts.parts:
        layers = tuple(layer for layer in part.fused() if layer.mode == "aiter")
        if layers and part.part.model_class.startswith(_CLASSES) and _loses(facts, _routed(facts, part, layers[0])):
            yield _hit(facts, layers, limit)


def _routed(facts: Facts, part: PartFacts, layer: Layer) -> Storage | None:
    """How the routed experts are built, None where that is not known."""
    if part.gate.quantization is None:
        return PLAIN
    stored = facts.stored(part, layer)
    if stored is not None:
        return stored.routed
    return MXFP4 if expert_dtype(facts.model) == "fp4" else None


def _loses(facts: Facts, routed: Storage | None) -> bool:
    """Whether AITER runs experts of this format on this GPU, and does not clamp."""
    if facts.target.gfx == "gfx950":
        return routed in (PLAIN, FP8_BLOCK, MXFP4) and not facts.release.has("aiter_gets_clamp")
    return facts.target.gfx == "gfx942" and routed in (PLAIN, FP8_BLOCK)


def _hit(facts: Facts, layers: tuple[Layer, ...], limit: float) -> Hit:
    given = facts.release.has("aiter_gets_clamp")
    if given:
        why, source = "AITER's kernels for gfx942 were reported not to keep it", "reported in sgl-project/sglang#39247"
    else:
        why = f"vLLM {facts.release.version} does not hand it to AITER"
        source = "read: model_executor/layers/fused_moe/experts/rocm_aiter_moe.py:393 at 0.29.0"
    return Hit(
        message=f"{where(layers)}: the experts' activation is clamped to {limit:g}, and {why}. The shared expert, "
        "which clamps as a module of its own, loses it too once it is fused. An evaluation with AITER's MoE off tells.",
        consequence="silent_corruption",
        layers=layers,
        evidence=(f"{facts.model.text.at(_LIMIT)}: {limit:g}", f"{source}; not measured"),
        fixes=tuple(_fixes(facts, given=given)),
    )


def _fixes(facts: Facts, *, given: bool) -> Iterator[Fix]:
    yield fixes.fusion_off()
    if not given and facts.target.gfx != "gfx942":
        yield fixes.later_release(facts, _GIVEN, "hands AITER the clamp")
