"""What a tensor of a shared expert is, from its name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fse_core.errors import InputError

Projection = Literal["gate", "up", "down"]
Part = Literal["weight", "scale"]

PROJECTIONS: Mapping[str, tuple[Projection, ...]] = {
    "gate_proj": ("gate",),
    "up_proj": ("up",),
    "down_proj": ("down",),
    "w1": ("gate",),
    "w3": ("up",),
    "w2": ("down",),
    "gate_up_proj": ("gate", "up"),
    "w13": ("gate", "up"),
}
"""What a module of a shared expert holds; where there are two, the first lies above the second."""

_PARTS: Mapping[str, Part] = {
    "weight": "weight",
    "weight_scale": "scale",
    "weight_scale_inv": "scale",
    "scale": "scale",
}
"""MiniMax-M3 calls MXFP8 scales weight_scale_inv (minimax_m3/amd/model.py:1626 at 0.33.0), DeepSeek-V4 all `scale`."""


@dataclass(frozen=True, kw_only=True)
class SharedTensor:
    """One tensor of a shared expert. `projections` are those that it holds, from the top."""

    name: str
    projections: tuple[Projection, ...]
    part: Part


def parse(name: str, prefix: str) -> SharedTensor | None:
    """What `name` is to the shared expert called `prefix`: None where it is not its tensor.

    A name below the prefix that no slot has a place for is an InputError.
    """
    if not name.startswith(f"{prefix}."):
        return None
    module, _, part = name.removeprefix(f"{prefix}.").partition(".")
    if module not in PROJECTIONS or part not in _PARTS:
        raise InputError(name, f"a fused slot has no place for the shared expert's {module}.{part}")
    return SharedTensor(name=name, projections=PROJECTIONS[module], part=_PARTS[part])
