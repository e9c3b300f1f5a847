"""Whether platform and environment ask for fusion at all.

Source: vllm/_aiter_ops.py:203, 2338 at 0.33.0.
"""

from typing import Literal

from fse_core.releases.release import Release
from fse_core.target import Target

AITER, AITER_MOE = "VLLM_ROCM_USE_AITER", "VLLM_ROCM_USE_AITER_MOE"
FUSION = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"
MEGA_MOE = "VLLM_ROCM_AITER_MEGA_MOE_FUSE_SHARED_EXPERTS"


def aiter_moe(target: Target, release: Release) -> bool:
    """Whether AITER runs the routed experts."""
    return target.gfx in release.fusing_gfx and target.is_on(AITER, AITER_MOE)


def refusal(kind: Literal["aiter", "environment", "mega_moe"], target: Target, release: Release) -> str | None:
    """Why fusion is not asked for, None where it is. The classes that read a variable alone ignore the rest."""
    if kind == "mega_moe":  # models/deepseek_v4/amd/model.py:698 at 0.32.0
        return None if target.is_on(MEGA_MOE) else f"{MEGA_MOE} is not on"
    if not target.is_on(FUSION):
        return f"{FUSION} is not on"
    if kind == "environment":
        return None
    if target.gfx not in release.fusing_gfx:
        return f"vLLM {release.version} uses AITER on {', '.join(sorted(release.fusing_gfx))} only, not on {target.gfx}"
    off = next((name for name in (AITER, AITER_MOE) if not target.is_on(name)), None)
    return None if off is None else f"{off} is not on"
