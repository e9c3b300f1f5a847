"""On this GPU the release does not use AITER, and with it no fusion.

AITER's experts exist for CDNA 3 and newer (gfx942, gfx950; gfx1250 in later releases). On RDNA, and on CDNA 2, all of
AITER's variables for MoE do nothing, and nothing is logged.
"""

from collections.abc import Iterator

from fse_core import request
from fse_core.rules.base import Facts, Hit, Rule

RULE = Rule(id="FSE123", name="gpu-without-fusion", severity="warning")


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for the whole model."""
    part = facts.parts[0] if facts.parts else None
    if part is None or not part.layers or part.part.model_class not in facts.release.wired:
        return
    gfx = facts.target.gfx
    if gfx in facts.release.fusing_gfx or not facts.target.is_on(request.FUSION) or part.part.request != "aiter":
        return
    used = ", ".join(sorted(facts.release.fusing_gfx))
    yield Hit(
        message=f"vLLM {facts.release.version} uses AITER on {used} only: on {gfx} all its variables for MoE do "
        "nothing, and no layer is fused.",
        consequence="not_fused",
        evidence=("vllm/_aiter_ops.py:203 at 0.33.0",),
    )
