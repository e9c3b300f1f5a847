"""From what became of single tensors to what is wrong: one fault a cause."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from fse_core.loads.events import PLAIN_TYPES, Event, Item
from fse_core.loads.faults import Cause, Fault, Left, Side
from fse_core.loads.rooms import Room
from fse_core.read.safetensors.names import Kind

_LINEAR: Final[dict[Kind, str]] = {"gate": "gate_up_proj", "up": "gate_up_proj", "down": "down_proj"}


@dataclass(frozen=True, kw_only=True)
class Told:
    """What became of one expert, or of all those that are stored like it.

    rooms: what was made for it. times: how many slots it is. experts: which of the routed ones, if not all.
    fused: it goes into the fused parameters. online: its weights are quantized on the way. seen: it was read, and is
        not only said to be there. cause: what comes of it comes of that, whatever the tensors are.
    """

    side: Side
    stored: tuple[Item, ...]
    rooms: tuple[Room, ...]
    events: tuple[Event, ...]
    times: int = 1
    experts: tuple[int, ...] = ()
    fused: bool = True
    online: bool = False
    cause: Cause | None = None
    seen: bool = True


@dataclass(kw_only=True)
class _Sum:
    """The events of one cause."""

    side: Side
    cause: Cause
    one: Told
    events: list[Event] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    of: dict[str, int] = field(default_factory=dict)


def explained(told: Iterable[Told], total: int, *, refusals: bool = True, lacks: bool = True) -> Iterator[Fault]:
    """The faults; `total` is how many slots the fused parameters have. `refusals`, `lacks`: whether it is sure that a
    tensor is refused, and that none comes for what is left.
    """
    sums: dict[tuple[Side, Cause, tuple[int, ...]], _Sum] = {}
    for one in told:
        for event in one.events:
            cause = _cause(event, one)
            key = (one.side, cause, one.experts)
            mine = sums.setdefault(key, _Sum(side=one.side, cause=cause, one=one))
            mine.events.append(event)
            if event.unset and event.room is not None:
                name, of = _parameter(event.room, one, total)
                mine.left[name] = mine.left.get(name, 0) + event.unset * event.room.size * one.times
                mine.of[name] = of
    for found in sums.values():
        fault = _fault(found)
        yield replace(fault, sure=lacks or (fault.error is not None and refusals and found.one.seen))


def _fault(found: _Sum) -> Fault:
    shown = next((event for event in found.events if event.refused), found.events[0])
    error = None if shown.refused is None else shown.refused.type
    left = tuple(Left(parameter=name, bytes=left, of=found.of[name]) for name, left in found.left.items())
    whole, unnamed = found.cause == "format", found.cause == "scale_name" or shown.room is None
    leaf = shown.leaf if shown.item is None else shown.item.leaf
    return Fault(
        side=found.side,
        cause=found.cause,
        error=error,
        kind=shown.kind,
        leaf="weight" if whole else leaf,
        stored=_stored(found.one, shown.kind) if whole else "" if shown.item is None else shown.item.words,
        made=_made(found.one, shown.kind) if whole else "" if unnamed or shown.room is None else shown.room.words,
        left=() if error else left,
        experts=found.one.experts,
    )


def _stored(one: Told, kind: Kind) -> str:
    """All that is stored of a projection, the weight first."""
    mine = {item.leaf: item.words for item in one.stored if item.kind == kind}
    return _with_scales(mine.pop("weight"), mine)


def _made(one: Told, kind: Kind) -> str:
    mine = {room.field.leaf: room.words for room in one.rooms if room.kind == kind}
    return _with_scales(mine.pop("weight"), mine)


def _with_scales(weight: str, scales: Mapping[str, str]) -> str:
    return " with ".join((weight, *(f"{leaf} {words}" for leaf, words in scales.items())))


def _parameter(room: Room, one: Told, total: int) -> tuple[str, int]:
    """A parameter's name, and how many bytes it has."""
    own = [other for other in one.rooms if other.field.leaf == room.field.leaf]
    if one.fused:
        return room.name, total * sum(other.bytes for other in own if other.name == room.name)
    module = _LINEAR[room.kind]
    return f"{module}.{room.field.leaf}", sum(other.bytes for other in own if _LINEAR[other.kind] == module)


def _cause(event: Event, one: Told) -> Cause:
    if one.cause is not None:
        return one.cause
    weight = next((item for item in one.stored if item.kind == event.kind and item.leaf == "weight"), None)
    if weight is None:
        return "missing"
    made = next((room for room in one.rooms if room.kind == event.kind and room.field.kind == "weight"), None)
    quantized = one.online and weight.dtype in PLAIN_TYPES
    if made is not None and not quantized and _format(weight.dtype) != _format(made.field.dtype):
        return "format"
    if event.leaf == "weight" or any(e.leaf == "weight" and e.kind == event.kind for e in one.events):
        return "width"
    nowhere = any(e.room is None and e.kind == event.kind for e in one.events)
    if event.passed or event.room is None or (event.item is None and nowhere):
        return "scale_name"
    return "scale_missing" if event.item is None else "scale_shape"


def _format(dtype: str) -> str:
    """Numbers of 16 bits or more, of a byte, or several in one."""
    if dtype in PLAIN_TYPES:
        return "plain"
    return "bytes" if dtype.startswith("F8") else "packed"
