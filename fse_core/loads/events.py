"""What becomes of the tensors of one expert or module, one by one."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from fse_core.loads.copying import Refused, Unknown
from fse_core.loads.rooms import Room, Shape
from fse_core.loads.ways import Way
from fse_core.read.safetensors.layer import Expert
from fse_core.read.safetensors.names import Kind

PLAIN_TYPES = frozenset({"BF16", "F16", "F32"})
Copy = Callable[[Kind, str, Shape, Room], int | Refused]
"""How many of a room's numbers a tensor sets, or the exception."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One stored tensor: its projection, leaf, number type and shape."""

    kind: Kind
    leaf: str
    dtype: str
    shape: Shape

    @property
    def words(self) -> str:
        return f"{self.dtype} {list(self.shape)}" if self.shape else f"{self.dtype} without dimensions"


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that is not as it should be: about a stored tensor, or about a room that is not all written.

    passed: `item` is one that was passed over, for it has no parameter.
    """

    kind: Kind
    leaf: str
    refused: Refused | None = None
    room: Room | None = None
    item: Item | None = None
    unset: int = 0
    passed: bool = False


def items(expert: Expert) -> tuple[Item, ...]:
    """The stored tensors. Unknown where gate and up are stored as one, or a module has a bias."""
    found = []
    for kind, projection in expert.items():
        if kind == "gate_up" or any("bias" in leaf for leaf in projection.parts):
            raise Unknown("gate and up in one tensor, or a bias")
        found += [
            Item(kind=kind, leaf=leaf, dtype=tensor.dtype, shape=tensor.shape)
            for leaf, tensor in projection.parts.items()
        ]
    return tuple(found)


def events(stored: tuple[Item, ...], rooms: tuple[Room, ...], way: Way, copy: Copy) -> Iterator[Event]:
    """What happens to each tensor, then what each room lacks; one that was passed over is named with what lacks it."""
    by_place: Mapping[tuple[Kind, str], Room] = {(room.kind, room.field.leaf): room for room in rooms}
    written = dict.fromkeys(by_place, 0)
    passed: dict[Kind, Item] = {}
    for item in stored:
        place = place_of(item, by_place, way)
        room = by_place.get(place)
        if room is None:
            if way.skips:
                passed[item.kind] = item
            else:
                yield Event(kind=item.kind, leaf=item.leaf, refused=Refused(type=way.nowhere), item=item)
            continue
        done = copy(item.kind, item.leaf, item.shape, room)
        if isinstance(done, Refused):
            yield Event(kind=item.kind, leaf=item.leaf, refused=done, room=room, item=item)
        else:
            written[place] = max(written[place], done)
    held = {place_of(item, by_place, way): item for item in stored}
    for place, room in by_place.items():
        if written[place] < room.count:
            unset = room.count - written[place]
            mine, other = held.get(place), passed.get(room.kind)
            over = mine is None and other is not None
            shown = other if over else mine
            yield Event(kind=room.kind, leaf=room.field.leaf, room=room, item=shown, unset=unset, passed=over)


def place_of(item: Item, rooms: Mapping[tuple[Kind, str], Room], way: Way) -> tuple[Kind, str]:
    """Where a tensor goes by its name. One number that is for both gate and up is the gate's."""
    leaf = item.leaf.replace("weight_scale_inv", "weight_scale") if way.inverse else item.leaf
    both = rooms.get(("gate", leaf))
    kind: Kind = "gate" if item.kind == "up" and both is not None and both.field.kind == "both" else item.kind
    return kind, leaf
