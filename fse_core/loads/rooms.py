"""The shapes of what the release made for one expert, or for one module of its own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from fse_core.loads.sizes import Sizes
from fse_core.quantization.fields import Field, Fields
from fse_core.read.safetensors.names import Kind

Shape = tuple[int, ...]
FUSED: Mapping[Kind, str] = {"gate": "w13", "up": "w13", "down": "w2"}
BYTES = {"BF16": 2, "F8_E4M3": 1, "U8": 1, "F32": 4}


@dataclass(frozen=True, kw_only=True)
class Room:
    """What one projection's field is copied to on one rank. `shape` is without the expert's number."""

    kind: Kind
    field: Field
    shape: Shape

    @property
    def name(self) -> str:
        """The fused parameter that it is a part of."""
        return f"{FUSED[self.kind]}_{self.field.leaf}"

    @property
    def count(self) -> int:
        """Its numbers."""
        return prod(self.shape)

    @property
    def words(self) -> str:
        return f"{self.field.dtype} {list(self.shape)}" if self.shape else f"one {self.field.dtype} number"

    @property
    def size(self) -> int:
        """How many bytes a number takes."""
        return BYTES[self.field.dtype]

    @property
    def bytes(self) -> int:
        return self.count * self.size


def expert_rooms(fields: Fields, sizes: Sizes) -> Iterator[Room]:
    """Those of one slot. Gate and up are halves of one parameter, but for one number that is for `both`."""
    for field in fields:
        for kind in ("gate", "down") if field.kind == "both" else ("gate", "up", "down"):
            rows, columns = (sizes.hidden, sizes.partition) if kind == "down" else (sizes.partition, sizes.hidden)
            yield Room(kind=kind, field=field, shape=_shape(field, rows, columns))


def linear_rooms(kind: Kind, fields: Fields, sizes: Sizes) -> Iterator[Room]:
    """Those of one projection of a shared expert that is a module of its own: one rank's share.

    There each projection has its number, also where the fused parameters have one for both.
    """
    width = sizes.shared // sizes.linear_tp
    rows, columns = (sizes.hidden, width) if kind == "down" else (width, sizes.hidden)
    for field in fields:
        own = replace(field, kind="one") if field.kind == "both" else field
        yield Room(kind=kind, field=own, shape=_shape(own, rows, columns))


def _shape(field: Field, rows: int, columns: int) -> Shape:
    if field.kind == "weight":
        return rows, columns // field.packed
    if field.kind == "grid":
        high, across = field.block
        return -(-rows // high), -(-columns // across)
    return {"row": (rows,), "column": (rows, 1)}.get(field.kind, ())
