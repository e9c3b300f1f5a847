"""Targets: GPUs, their number, and what the environment asks for."""

from collections.abc import Iterator
from typing import Any

from conformance.fuzzing.draw import Draw
from conformance.fuzzing.models import CAN_FUSE
from fse_core import releases

FUSION = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"
AITER, AITER_MOE = "VLLM_ROCM_USE_AITER", "VLLM_ROCM_USE_AITER_MOE"
VALUES = ("0", "1", "true", "False", "TRUE", "yes", "on", "")
GFX = {"gfx942": 6, "gfx950": 5, "gfx90a": 0.5, "gfx1250": 0.7}
BACKENDS = ("aiter", "triton", "auto")
ALL2ALL = ("allgather_reducescatter", "mori_high_throughput", "mori_low_latency", "deepep_low_latency")


def target(draw: Draw, family: str, release: str) -> dict[str, Any]:
    """Options that differ from the default; most are left alone in any one case, and what the release lacks always."""
    sizes = {1: 6, 2: 2, 4: 2, 8: 3} if family in CAN_FUSE else {1: 8, 2: 1}
    made: dict[str, Any] = {"gfx": draw.weighted(GFX), "tp": draw.weighted(sizes)}
    for options, probability in _some_options(draw):
        if draw.chance(probability):
            made |= options
    own = [name for name in releases.load(release).environment if name not in (FUSION, AITER, AITER_MOE)]
    if own and draw.chance(0.3):
        made["environment"] = {draw.one(tuple(own)): "1"}
    if draw.chance(0.12):
        made["environment"] = {draw.one((FUSION, AITER, AITER_MOE)): draw.one(VALUES) for _ in range(draw.one((1, 2)))}
    for options, probability in _of_the_family(draw, family):
        if draw.chance(probability):
            made |= options
    choices = releases.load(release).choices
    return {name: value for name, value in made.items() if name not in choices or value in choices[name]}


def _some_options(draw: Draw) -> Iterator[tuple[dict[str, Any], float]]:
    """Options, and how often each is set."""
    yield {"ep": True}, 0.12
    yield {"dp": 2}, 0.08
    yield {"pcp": 2}, 0.05
    yield {"pp": 2}, 0.06
    yield {"moe_backend": draw.one(BACKENDS)}, 0.07
    yield {"all2all_backend": draw.one(ALL2ALL), "ep": True, "dp": 2}, 0.06
    yield {"eplb": True, "ep": True, "tp": 2}, 0.03
    yield {"dbo": True}, 0.03
    yield {"draft": False}, 0.2


def _of_the_family(draw: Draw, family: str) -> Iterator[tuple[dict[str, Any], float]]:
    """What the conditions of some classes are about."""
    if family.startswith("deepseek_v4"):
        yield mega(draw), 0.35
        yield {"ep": False, "dp": 2}, 0.1
    if family.startswith("glm5_next"):
        yield {"gfx": "gfx950", "tp": draw.one((4, 8))}, 0.5


def mega(draw: Draw) -> dict[str, Any]:
    """AITER's MegaMoE, as it wants to be asked for, or nearly so."""
    made: dict[str, Any] = {
        "gfx": "gfx950", "tp": 1, "ep": True, "dp": 1, "moe_backend": "aiter_mega_moe",
        "all2all_backend": "mori_high_throughput",
    }  # fmt: skip
    if draw.chance(0.3):
        made |= draw.one(({"ep": False}, {"tp": 8}, {"gfx": "gfx942"}, {"all2all_backend": None}, {"dp": 2}))
    return made
