"""Fused tensors of any layout and geometry, filled with a byte that loading has to replace."""

import torch
from torch import Tensor

from fse_core.slots import Geometry, Layout

FILLING = 0xA5


def fused(geometry: Geometry, layout: Layout, *, padding: int = 0, after: int = 0) -> dict[str, Tensor]:
    """Tensors with `padding` more rows and columns, in whole blocks, than the slots need, and experts `after` them."""
    wide, high = geometry.partition + padding, geometry.hidden + padding
    shapes = {"w13": (2 * wide, high), "w2": (high, wide)}
    experts = geometry.slots.stop + after
    return {name: _filled(experts, name, layout, *shapes[name.partition("_")[0]]) for name in layout.tensors}


def _filled(experts: int, name: str, layout: Layout, rows: int, columns: int) -> Tensor:
    if name.endswith("_weight"):
        return _full((experts, rows, columns // layout.packed), layout.weight_type)
    high, across = layout.block
    if high is None:
        return _full((experts, 2) if name.startswith("w13") else (experts,), layout.scale_type)
    per_row = (experts, -(-rows // high))
    return _full(per_row if across is None else (*per_row, -(-columns // across)), layout.scale_type)


def _full(shape: tuple[int, ...], dtype: str) -> Tensor:
    tensor = torch.empty(shape, dtype=getattr(torch, dtype))
    octets(tensor).fill_(FILLING)
    return tensor


def octets(tensor: Tensor) -> Tensor:
    """A contiguous tensor's bytes."""
    return tensor.view(-1).view(torch.uint8)


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and bytes."""
    return one.shape == other.shape and torch.equal(octets(one.contiguous()), octets(other.contiguous()))
