"""Routed experts that are stored as one tensor for gate and up, and one for down.

Source: model_executor/layers/fused_moe/routed_experts.py:1001 at 0.33.0, which cuts a tensor of three dimensions into
its experts, and the first of the two in the middle of its rows.
"""

from collections.abc import Iterator

from fse_core.loads.copying import Unknown
from fse_core.loads.events import Item
from fse_core.loads.rooms import Shape
from fse_core.read.safetensors.facts import Tensor
from fse_core.read.safetensors.layer import Expert
from fse_core.read.safetensors.names import Kind

_HALVES: tuple[Kind, ...] = ("gate", "up")


def first(experts: Expert) -> Item:
    """The tensor to be shown for all."""
    projection = next(iter(experts.values()))
    tensor = projection.weight or next(iter(projection.parts.values()))
    return Item(kind="gate", leaf="weight", dtype=tensor.dtype, shape=tensor.shape)


def unpacked(experts: Expert) -> tuple[int, tuple[Item, ...]]:
    """How many experts the tensors hold, and what each has. Unknown where it cannot be told."""
    if not experts.keys() <= {"gate_up", "down"}:
        raise Unknown("other projections than gate and up in one, and down")
    tensors = [tensor for projection in experts.values() for tensor in projection.parts.values()]
    counts = {tensor.shape[0] if len(tensor.shape) == 3 else None for tensor in tensors}
    count = counts.pop()
    if counts or count is None:
        raise Unknown("tensors of another number of dimensions, or of experts")
    return count, tuple(_items(experts))


def _items(experts: Expert) -> Iterator[Item]:
    for kind, projection in experts.items():
        for leaf, tensor in projection.parts.items():
            shape, name = tensor.shape[1:], _leaf(leaf, tensor)
            if kind != "gate_up":
                yield Item(kind=kind, leaf=name, dtype=tensor.dtype, shape=shape)
                continue
            for half in _HALVES:
                yield Item(kind=half, leaf=name, dtype=tensor.dtype, shape=_half(shape))


def _half(shape: Shape) -> Shape:
    rows, columns = shape
    if rows % 2:
        raise Unknown("an odd number of rows for gate and up")
    return rows // 2, columns


def _leaf(leaf: str, tensor: Tensor) -> str:
    """The parameter's: the class puts its `weight` where the projection's name ends."""
    if not leaf:
        return "weight"
    return f"weight{tensor.name[-len(leaf) - 1]}{leaf}"
