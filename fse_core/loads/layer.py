"""What loading one layer's experts comes to."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fse_core.loads import batched, experts, linear
from fse_core.loads.copying import Refused, Unknown
from fse_core.loads.events import Event, Item, items
from fse_core.loads.explain import Told, explained
from fse_core.loads.faults import Fault
from fse_core.loads.rooms import Room, expert_rooms, linear_rooms
from fse_core.loads.sizes import Sizes
from fse_core.loads.ways import Way
from fse_core.quantization.fields import Fields
from fse_core.read.safetensors.layer import LayerTensors
from fse_core.read.safetensors.names import Kind


@dataclass(frozen=True, kw_only=True)
class Loading:
    """What goes wrong; nothing where the layer's experts load as they should."""

    faults: tuple[Fault, ...]


@dataclass(frozen=True, kw_only=True)
class Built:
    """What the release made for a layer. slots: how many of the shared experts are fused, 0 where they are apart.

    shared: the parameters of the shared expert's own gate_up_proj and down_proj, None where they are not known.
    online: the release quantizes it to MXFP4 while it loads.
    """

    routed: Fields
    slots: int
    shared: tuple[Fields, Fields] | None = None
    online: bool = False


def loading(
    tensors: LayerTensors, built: Built, sizes: Sizes, way: Way, *, complete: bool = True, anchored: bool = True
) -> Loading | None:
    """What becomes of the stored tensors, None where it cannot be told.

    complete: there are no others; else only what is refused is sure, and that if they are `anchored` (surely loaded).
    """
    rooms = tuple(expert_rooms(built.routed, sizes))
    total = sizes.experts + built.slots
    try:
        told = [*_routed(tensors, rooms, sizes, way, built.slots)]
        told += _shared(tensors, built, rooms, sizes, way)
    except Unknown:
        return None
    return Loading(faults=tuple(explained(told, total, refusals=anchored, lacks=complete)))


def _routed(tensors: LayerTensors, rooms: tuple[Room, ...], sizes: Sizes, way: Way, slots: int) -> Iterator[Told]:
    if None in tensors.routed:
        yield from _batched(tensors, rooms, sizes, way, slots)
        return
    numbers = {number for number in tensors.routed if number is not None}
    if any(sizes.experts <= number < sizes.experts + slots for number in numbers):
        raise Unknown("a routed expert where a shared one goes")
    surplus = tuple(sorted(number for number in numbers if number >= sizes.experts))
    if surplus and not way.beyond:
        refused = Event(kind="down", leaf="weight", refused=Refused(type=way.nowhere))
        seen = tensors.seen(*surplus)
        yield Told(side="routed", stored=(), rooms=(), events=(refused,), experts=surplus, cause="surplus", seen=seen)
    for group in tensors.alike:
        mine = tuple(one for one in group if one is not None and one < sizes.experts)
        if len(tensors.alike) == 1 and not tensors.whole:  # it stands for all
            mine = tuple(range(sizes.experts))
        yield from _told(items(tensors.routed[group[0]]), rooms, sizes, way, mine, seen=tensors.seen(*group))
    lacking = tuple(one for one in range(sizes.experts) if one not in numbers) if tensors.whole else ()
    yield from _told((), rooms, sizes, way, lacking, seen=tensors.read is None)


def _batched(tensors: LayerTensors, rooms: tuple[Room, ...], sizes: Sizes, way: Way, slots: int) -> Iterator[Told]:
    """Of the routed experts where they are in one tensor."""
    if way.batched is None or len(tensors.routed) > 1:
        raise Unknown("routed experts in one tensor")
    together = tensors.routed[None]
    if way.batched != "cut":
        item = batched.first(together)
        refused = Event(kind="gate", leaf="weight", refused=Refused(type=way.nowhere), item=item)
        lacks = replace(refused, refused=None), *experts.routed((), rooms, sizes, way)
        made = (refused,) if way.batched == "refused" else lacks
        yield Told(side="routed", stored=(item,), rooms=rooms, events=made, times=sizes.experts, cause="batched")
        return
    count, stored = batched.unpacked(together)
    if count > sizes.experts + slots:
        refused = Event(kind="down", leaf="weight", refused=Refused(type="IndexError"))
        surplus = tuple(range(sizes.experts, count))
        yield Told(side="routed", stored=(), rooms=(), events=(refused,), experts=surplus, cause="surplus")
    elif count > sizes.experts:
        raise Unknown("a routed expert where a shared one goes")
    yield from _told(stored, rooms, sizes, way, tuple(range(min(count, sizes.experts))), seen=True)
    yield from _told((), rooms, sizes, way, tuple(range(count, sizes.experts)), seen=True)


def _told(
    stored: tuple[Item, ...], rooms: tuple[Room, ...], sizes: Sizes, way: Way, numbers: tuple[int, ...], *, seen: bool
) -> Iterator[Told]:
    """Of the routed experts with these numbers, which are stored alike."""
    made = tuple(experts.routed(stored, rooms, sizes, way)) if numbers else ()
    if made:
        some = numbers if len(numbers) < sizes.experts else ()
        times = len(numbers)
        yield Told(side="routed", stored=stored, rooms=rooms, events=made, experts=some, times=times, seen=seen)


def _shared(tensors: LayerTensors, built: Built, rooms: tuple[Room, ...], sizes: Sizes, way: Way) -> Iterator[Told]:
    stored, seen = items(tensors.shared), tensors.shared_read
    if built.slots and not way.fills:
        lacks = tuple(experts.routed((), rooms, sizes, way))
        yield Told(
            side="shared", stored=stored, rooms=rooms, events=lacks, times=built.slots, cause="unfilled", seen=seen
        )
    elif built.slots:
        fused = experts.shared(stored, rooms, sizes, way, slots=built.slots, online=built.online)
        for made, times in fused:
            yield Told(
                side="shared", stored=stored, rooms=rooms, events=made, times=times, online=built.online, seen=seen
            )
    elif built.shared is not None:
        gate_up, down = built.shared
        made_for: tuple[tuple[Kind, Fields], ...] = (("gate", gate_up), ("up", gate_up), ("down", down))
        own = tuple(room for kind, fields in made_for for room in linear_rooms(kind, fields, sizes))
        found = tuple(linear.alone(stored, own, sizes, way))
        yield Told(side="shared", stored=stored, rooms=own, events=found, fused=False, seen=seen)
