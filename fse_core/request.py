"""Whether platform and environment ask for fusion at all.

Source: vllm/_aiter_ops.py:203, 2338 at 0.33.0.
"""

from typing import Literal

from fse_core.releases.release import Release
from fse_core.target import Target

AITER, AITER_MOE = "VLLM_ROCM_USE_AITER", "VLLM_ROCM_USE_AITER_MOE"
FUSION = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"


def aiter_moe(target: Target, release: Release) -> bool:
    """Whether AITER runs the routed experts."""
    return target.gfx in release.fusing_gfx and target.is_on(AITER, AITER_MOE)


def refusal(kind: Literal["aiter", "environment"], target: Target, release: Release) -> str | None:
    """Why fusion is not asked for, None where it is. The classes that read the environment alone ignore the rest."""
    if not target.is_on(FUSION):
        return f"{FUSION} is not on"
    if kind == "environment":
        return None
    if target.gfx not in release.fusing_gfx:
        return f"vLLM {release.version} uses AITER on {', '.join(sorted(release.fusing_gfx))} only, not on {target.gfx}"
    off = next((name for name in (AITER, AITER_MOE) if not target.is_on(name)), None)
    return None if off is None else f"{off} is not on"
