"""Shared experts that the release builds as modules of their own: gate and up in one, down in another.

Source: model_executor/layers/linear.py:772,920,1772 and model_executor/parameter.py:85-310 at 0.33.0; these loaders
demand the exact shape, but take the first part of a tensor that is larger along the dimension that ranks share.
"""

from collections.abc import Iterator
from functools import partial

from fse_core.loads.copying import Refused
from fse_core.loads.events import Event, Item, events
from fse_core.loads.rooms import Room, Shape
from fse_core.loads.sizes import Sizes
from fse_core.loads.ways import Way
from fse_core.read.safetensors.names import Kind


def alone(stored: tuple[Item, ...], rooms: tuple[Room, ...], sizes: Sizes, way: Way) -> Iterator[Event]:
    """All three projections."""
    yield from events(stored, rooms, way, partial(_copy, sizes.linear_tp))


def _copy(tp: int, kind: Kind, _leaf: str, shape: Shape, room: Room) -> int | Refused:
    if room.field.kind == "one":
        return 1 if shape in ((), (1,)) else Refused(type="AssertionError")
    if kind == "down" and room.field.kind in ("row", "column"):
        return room.count if shape == room.shape else Refused(type="AssertionError")
    axis = int(kind == "down")
    if axis >= len(shape):
        return Refused(type="IndexError")
    if shape[axis] < room.shape[min(axis, len(room.shape) - 1)] * tp:
        return Refused(type="RuntimeError")
    narrowed = (*shape[:axis], room.shape[axis], *shape[axis + 1 :]) if axis < len(room.shape) else shape
    return room.count if narrowed == room.shape else Refused(type="AssertionError")
