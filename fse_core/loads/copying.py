"""What copying one tensor into a room does, told from the shapes alone.

Source: model_executor/layers/fused_moe/routed_experts.py:331-629,708-990 at 0.33.0; the same at 0.24.0.
"""

from dataclasses import dataclass
from math import prod

from fse_core.errors import FseError
from fse_core.loads.rooms import Room, Shape
from fse_core.read.safetensors.names import Kind


class Unknown(FseError):
    """What cannot be told."""


@dataclass(frozen=True, kw_only=True)
class Refused:
    """The exception with which loading ends."""

    type: str


def cut(shape: Shape, kind: Kind, leaf: str, pieces: int, *, blind: bool, error: str) -> Shape | Refused:
    """The shape of each of equal pieces of a shared expert's tensor, along the second dimension for a down projection
    if it is `blind` or there is one. It goes by the name: a scale for activations is cut along its first.
    """
    down = kind == "down" and leaf.startswith("weight")
    axis = 1 if down and (blind or len(shape) > 1) else 0
    if axis >= len(shape) or (blind and len(shape) < 2):
        return Refused(type="IndexError")
    if shape[axis] % pieces:
        return Refused(type=error)
    return _with(shape, axis, shape[axis] // pieces)


def copied(shape: Shape, room: Room, tp: int) -> int | Refused:
    """How many of the room's numbers a tensor of this shape sets; or the exception."""
    if len(shape) > 2:
        raise Unknown("a tensor of more than two dimensions")
    if room.field.kind in ("one", "both"):
        return 1 if prod(shape) == 1 else Refused(type="RuntimeError")
    axis = int(room.kind == "down")
    if axis and room.field.kind in ("row", "column"):
        return _spread(shape, room.shape)
    if shape:
        if axis >= len(shape):
            return Refused(type="IndexError")
        shape = _with(shape, axis, shape[axis] // tp)
    return _spread(shape, room.shape)


def _with(shape: Shape, axis: int, size: int) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


def _spread(shape: Shape, target: Shape) -> int | Refused:
    """Copy into as much of the target as the tensor is large: a smaller one is taken for padded."""
    narrowed = tuple(min(size, shape[axis]) if axis < len(shape) else size for axis, size in enumerate(target))
    if len(shape) > len(narrowed):
        return Refused(type="RuntimeError")
    behind = narrowed[len(narrowed) - len(shape) :]
    fits = all(size in (1, room) for size, room in zip(shape, behind, strict=True))
    return prod(narrowed) if fits else Refused(type="RuntimeError")
