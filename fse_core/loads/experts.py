"""Experts that go into fused parameters: routed ones as they are stored, shared ones piece by piece."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from fse_core.loads.copying import Refused, copied, cut
from fse_core.loads.events import PLAIN_TYPES, Event, Item, events, place_of
from fse_core.loads.rooms import Room, Shape
from fse_core.loads.sizes import Sizes
from fse_core.loads.ways import Way
from fse_core.read.safetensors.names import Kind

_GROUP = 32
"""Numbers of a row that share a scale of MXFP4."""


def routed(stored: tuple[Item, ...], rooms: tuple[Room, ...], sizes: Sizes, way: Way) -> Iterator[Event]:
    """One routed expert."""
    yield from events(stored, rooms, way, partial(_copy, sizes))


def _copy(sizes: Sizes, _kind: Kind, _leaf: str, shape: Shape, room: Room) -> int | Refused:
    return copied(shape, room, sizes.tp)


def shared(
    stored: tuple[Item, ...], rooms: tuple[Room, ...], sizes: Sizes, way: Way, *, slots: int, online: bool
) -> Iterator[tuple[tuple[Event, ...], int]]:
    """What becomes of the shared experts, and of how many slots that holds.

    `online`: what is in full precision is quantized to MXFP4 on the way.
    """
    copy = partial(_copy, sizes)
    if way.cut == "none":
        yield tuple(events(_quantized(stored, online), rooms, way, copy)), 1
        if slots > 1:
            yield tuple(events((), rooms, way, copy)), slots - 1
        return
    pieces, refused = _cut(stored, rooms, way, slots)
    if refused:
        yield refused, slots
    else:
        yield tuple(events(_quantized(pieces, online), rooms, way, copy)), slots


def _cut(
    stored: tuple[Item, ...], rooms: tuple[Room, ...], way: Way, slots: int
) -> tuple[tuple[Item, ...], tuple[Event, ...]]:
    """One piece of each tensor, and what happens to those that cannot be cut."""
    by_place = {(room.kind, room.field.leaf): room for room in rooms}
    pieces, refused = [], []
    for item in stored:
        shape = cut(item.shape, item.kind, item.leaf, slots, blind=way.cut == "blind", error=way.error)
        if isinstance(shape, Refused):
            room = by_place.get(place_of(item, by_place, way))
            refused.append(Event(kind=item.kind, leaf=item.leaf, refused=shape, room=room, item=item))
        else:
            pieces.append(replace(item, shape=shape))
    return tuple(pieces), tuple(refused)


def _quantized(stored: tuple[Item, ...], online: bool) -> tuple[Item, ...]:
    """The pieces after the quantizer, which takes any weight of floating point, and cannot read FP8.

    Source: model_executor/layers/fused_moe/routed_experts.py:740 at 0.33.0.
    """
    if not online:
        return stored
    made: list[Item] = []
    for item in stored:
        if item.leaf != "weight" or item.dtype not in PLAIN_TYPES or len(item.shape) != 2 or item.shape[1] % _GROUP:
            made.append(item)
            continue
        rows, columns = item.shape
        made.append(Item(kind=item.kind, leaf="weight", dtype="U8", shape=(rows, columns // 2)))
        made.append(Item(kind=item.kind, leaf="weight_scale", dtype="U8", shape=(rows, columns // _GROUP)))
    return tuple(made)
