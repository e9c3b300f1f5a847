"""The fused tensors of a layer, and the views of them in which a shared expert's pieces lie."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from fse_core.errors import InputError
from fse_core.slots import Geometry, Layout, Piece, Window


@dataclass(frozen=True, kw_only=True)
class FusedLayer:
    """One layer's fused tensors, and the shared expert that belongs in their slots.

    shared: what stands before the shared expert's projections in the checkpoint's names.
    tensors: `w13_weight`, `w2_weight` and their scales, by these names; a backend may have padded rows and columns.
    """

    shared: str
    tensors: Mapping[str, Tensor]
    geometry: Geometry


@dataclass(frozen=True, kw_only=True)
class Views:
    """Cuts a layer's fused tensors, and a checkpoint's, as a layout demands."""

    tensors: Mapping[str, Tensor]
    layout: Layout

    def fused(self, fused: str, part: str = "weight") -> Tensor:
        return self.tensors[f"{fused}_{part if part == 'weight' else self.layout.scale}"]

    @property
    def seam(self) -> int:
        """The row of w13 at which the up projections begin."""
        return int(self.fused("w13").shape[1]) // 2

    def weights(self, matrix: Tensor, window: Window) -> Tensor:
        """What of a matrix in this layout lies in `window`, which counts weights."""
        return cut(matrix, window.over(1, self.layout.packed))

    def scales(self, matrix: Tensor, window: Window) -> Tensor:
        """The scales of what lies in `window`: a matrix, or one dimension for one scale a row or one in all."""
        blocks = window.over(*self.layout.block)
        if self.layout.block[1] is not None:
            return cut(matrix, blocks)
        column = matrix if matrix.ndim == 1 else matrix[:, 0]
        return column[blocks.rows.start : blocks.rows.stop]

    def weight_slot(self, piece: Piece) -> Tensor:
        """Where a piece's weights go."""
        return self.weights(self.fused(piece.fused)[piece.slot], piece.target)

    def scale_slot(self, piece: Piece) -> Tensor:
        """Where a piece's scales go."""
        fused = self.fused(piece.fused, "scale")
        if self.layout.block != (None, None):
            return self.scales(fused[piece.slot], piece.target)
        # One for a whole projection: w13 has two of them an expert, w2 one, and no dimension for it.
        alone = fused[piece.slot : piece.slot + 1]
        return alone[0, piece.half : piece.half + 1] if fused.ndim > 1 else alone


def cut(matrix: Tensor, window: Window) -> Tensor:
    """A view of part of a matrix."""
    rows, columns = window.rows, window.columns
    return matrix[rows.start : rows.stop, columns.start : columns.stop]


def check_fused(layer: FusedLayer, layout: Layout) -> None:
    """InputError, with the numbers, where the fused tensors are not those of the layout, or too small for the slots."""
    for name in layout.tensors:
        tensor = layer.tensors.get(name)
        if tensor is None:
            raise InputError(name, f"{layer.shared} has no such fused tensor, and {layout.name} needs it")
        wanted = layout.scale_type if name.endswith(str(layout.scale)) else layout.weight_type
        if layout.scale is not None and str(tensor.dtype) != f"torch.{wanted}":
            raise InputError(name, f"is {tensor.dtype} in {layer.shared}, and {layout.name} has torch.{wanted}")
        least = _least(layer.geometry, layout, name)
        shape = tuple(tensor.shape)
        if len(shape) < len(least) or any(size < need for size, need in zip(shape, least, strict=False)):
            raise InputError(name, f"is {list(shape)} in {layer.shared}, and its slots need {list(least)}")
    rows = layer.tensors["w13_weight"].shape[1]
    if rows % (2 * (layout.block[0] or 1)):
        raise InputError("w13_weight", f"{rows} rows in {layer.shared} are not two halves of whole blocks")


def _least(geometry: Geometry, layout: Layout, name: str) -> tuple[int, ...]:
    """The smallest shape that holds all slots; the sizes after the first are of one expert."""
    high, wide = geometry.hidden, geometry.partition
    rows, columns = (2 * wide, high) if name.startswith("w13") else (high, wide)
    experts = geometry.slots.stop
    whole = Window(rows=range(rows), columns=range(columns))
    if name.endswith("_weight"):
        return (experts, *whole.over(1, layout.packed).shape)
    if layout.block == (None, None):
        return (experts, 2) if name.startswith("w13") else (experts,)
    blocks = whole.over(*layout.block).shape
    return (experts, blocks[0]) if layout.block[1] is None else (experts, *blocks)
