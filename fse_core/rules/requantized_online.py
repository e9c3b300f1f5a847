"""Fusion makes MXFP4 of a shared expert while it loads: what that costs has to be measured, or it goes wrong.

From 16-bit numbers it is an ordinary rounding to four bits, done without calibration. A full evaluation is called for,
read with both of its filters: of DeepSeek-V4-Pro, whose shared expert was made from FP8, GSM8K fell from 0.9492 to
0.8620 by the flexible filter and by 0.8 points only by the strict one (vllm-project/vllm#48728), and 100 questions
cannot tell 0.81 from 0.85 (sgl-project/sglang#22948).

The release does not look at how the shared expert is stored. Where that is FP8, its numbers reach the MXFP4 quantizer
without their scales, and those scales are then loaded over the ones that were computed
(model_executor/layers/fused_moe/routed_experts.py:641 at 0.33.0, read). DeepSeek-V4's class hands the routed experts no
name of the shared one, so that nothing quantizes it at all and loading ends in a RuntimeError, the shared expert being
twice as wide as its slot (models/deepseek_v4/amd/model.py:749; asked of 0.32.0 and 0.33.0).
"""

from collections.abc import Iterator
from functools import partial

from fse_core.quantization.storage import MXFP4, PLAIN, Storage
from fse_core.report import Layer
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, by, where

RULE = Rule(
    id="FSE126",
    name="requantized-online",
    severity="info",
    confidence="likely",
    ends_with_fusion=True,
    mended_by_quantizing=True,
)


def check(facts: Facts) -> Iterator[Hit]:
    """The fused layers of each part that an overlay reaches, by how the checkpoint stores their shared experts."""
    if facts.failure is not None:
        return
    for part in facts.parts:
        for stored, layers in by(part.fused(), partial(_source, facts, part)).items():
            if stored is not None:
                yield _hit(facts, part, stored, layers)


def _source(facts: Facts, part: PartFacts, layer: Layer) -> Storage | None:
    """How the block says that the shared expert is stored, where the overlay makes MXFP4 of it."""
    overlay = part.gate.overlay if "online" in facts.release.branches else None
    quantization = part.gate.quantization
    if overlay is None or quantization is None:
        return None
    question = facts.question(part, layer)
    if not any(overlay.linear_keys(name, question) for name in question.projections):
        return None
    stored = quantization.stored(question)
    return None if stored is None or stored.shared == MXFP4 else stored.shared


def _hit(facts: Facts, part: PartFacts, stored: Storage, layers: tuple[Layer, ...]) -> Hit:
    overlay = facts.target.overlay or {}
    named = [f"targets: {target}" for target in overlay.get("targets") or ()]
    said = named or [f"{key}: {value}" for key, value in overlay.items()]  # `linear` reaches it as well
    targets = tuple(f"--quantization-config {words}" for words in said)
    if part.part.model_class.startswith("DeepseekV4") and stored == PLAIN:
        return Hit(
            message=f"{where(layers)}: MXFP4 is to be made of the 16-bit shared expert while it loads, but this class "
            "does not hand its name to the quantizer: it comes as it is, twice as wide as its slot. Loading fails.",
            consequence="load_fails",
            severity="error",
            confidence="certain",
            layers=layers,
            evidence=targets,
            fixes=(fixes.fusion_off(),),
        )
    if stored != PLAIN:
        return Hit(
            message=f"{where(layers)}: MXFP4 is to be made of the shared expert while it loads, but it is stored as "
            f"{stored.name}, and its numbers reach the quantizer without their scales. Loading fails, or the slot "
            "holds wrong numbers.",
            consequence="silent_corruption",
            severity="error",
            layers=layers,
            evidence=targets,
            fixes=(fixes.fusion_off(),),
        )
    return Hit(
        message=f"{where(layers)}: MXFP4 is made of the 16-bit shared expert while it loads, which changes its "
        "numbers. Evaluate it in full and by both filters, beside the same model with fusion off.",
        consequence="none",
        layers=layers,
        evidence=targets,
    )
