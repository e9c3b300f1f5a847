"""Whether platform and environment ask for fusion at all.

Source: vllm/envs.py:1267-1384 and vllm/_aiter_ops.py:203, 2338 at 0.33.0.
"""

from typing import Literal

from fse_core.releases.release import Release
from fse_core.target import Target

AITER, AITER_MOE = "VLLM_ROCM_USE_AITER", "VLLM_ROCM_USE_AITER_MOE"
FUSION = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"


def is_on(variable: str, target: Target, release: Release) -> bool:
    """A variable's value as vLLM parses it: `true` and `1` in any case are on, all else is off."""
    text = target.variable(variable)
    return (release.environment[variable] if text is None else text).lower() in ("true", "1")


def aiter_moe(target: Target, release: Release) -> bool:
    """Whether AITER runs the routed experts."""
    return target.gfx in release.fusing_gfx and is_on(AITER, target, release) and is_on(AITER_MOE, target, release)


def refusal(kind: Literal["aiter", "environment"], target: Target, release: Release) -> str | None:
    """Why fusion is not asked for, None where it is. The classes that read the environment alone ignore the rest."""
    if not is_on(FUSION, target, release):
        return f"{FUSION} is not on"
    if kind == "environment":
        return None
    if target.gfx not in release.fusing_gfx:
        return f"vLLM {release.version} uses AITER on {', '.join(sorted(release.fusing_gfx))} only, not on {target.gfx}"
    off = next((name for name in (AITER, AITER_MOE) if not is_on(name, target, release)), None)
    return None if off is None else f"{off} is not on"
