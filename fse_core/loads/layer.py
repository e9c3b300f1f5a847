"""What loading one layer's experts comes to."""

from collections.abc import Iterator
from dataclasses import dataclass

from fse_core.loads import experts, linear
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


def loading(tensors: LayerTensors, built: Built, sizes: Sizes, way: Way) -> Loading | None:
    """What becomes of the stored tensors, None where it cannot be told."""
    rooms = tuple(expert_rooms(built.routed, sizes))
    total = sizes.experts + built.slots
    try:
        told = [*_routed(tensors, rooms, sizes, way, built.slots)]
        told += _shared(tensors, built, rooms, sizes, way)
    except Unknown:
        return None
    return Loading(faults=tuple(explained(told, total)))


def _routed(tensors: LayerTensors, rooms: tuple[Room, ...], sizes: Sizes, way: Way, slots: int) -> Iterator[Told]:
    if None in tensors.routed:
        raise Unknown("routed experts in one tensor")
    numbers = {number for number in tensors.routed if number is not None}
    if any(sizes.experts <= number < sizes.experts + slots for number in numbers):
        raise Unknown("a routed expert where a shared one goes")
    surplus = tuple(sorted(number for number in numbers if number >= sizes.experts))
    if surplus and not way.beyond:
        refused = Event(kind="down", leaf="weight", refused=Refused(type=way.nowhere))
        yield Told(side="routed", stored=(), rooms=(), events=(refused,), experts=surplus, surplus=True)
    groups = [(number, group) for group in tensors.alike if (number := group[0]) is not None]
    for number, group in groups:
        mine = tuple(one for one in group if one is not None and one < sizes.experts)
        yield from _told(items(tensors.routed[number]), rooms, sizes, way, mine)
    yield from _told((), rooms, sizes, way, tuple(one for one in range(sizes.experts) if one not in numbers))


def _told(
    stored: tuple[Item, ...], rooms: tuple[Room, ...], sizes: Sizes, way: Way, numbers: tuple[int, ...]
) -> Iterator[Told]:
    """Of the routed experts with these numbers, which are stored alike."""
    made = tuple(experts.routed(stored, rooms, sizes, way)) if numbers else ()
    if made:
        some = numbers if len(numbers) < sizes.experts else ()
        yield Told(side="routed", stored=stored, rooms=rooms, events=made, experts=some, times=len(numbers))


def _shared(tensors: LayerTensors, built: Built, rooms: tuple[Room, ...], sizes: Sizes, way: Way) -> Iterator[Told]:
    stored = items(tensors.shared)
    if built.slots:
        fused = experts.shared(stored, rooms, sizes, way, slots=built.slots, online=built.online)
        for made, times in fused:
            yield Told(side="shared", stored=stored, rooms=rooms, events=made, times=times, online=built.online)
    elif built.shared is not None:
        gate_up, down = built.shared
        made_for: tuple[tuple[Kind, Fields], ...] = (("gate", gate_up), ("up", gate_up), ("down", down))
        own = tuple(room for kind, fields in made_for for room in linear_rooms(kind, fields, sizes))
        found = tuple(linear.alone(stored, own, sizes, way))
        yield Told(side="shared", stored=stored, rooms=own, events=found, fused=False)
