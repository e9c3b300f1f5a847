"""Where each slice of a shared expert goes in the fused tensors: index arithmetic, without a tensor.

A fused layer keeps its experts in `w13_weight` (gate above up) and `w2_weight` (down), the shared experts' slots after
the routed ones, and their scales likewise. `Geometry` holds a layer's numbers, `layout` says how a format stores a
matrix, `parse` what a checkpoint's tensor is, `check_shape` whether it is as large as it must be, and `pieces` which of
its rectangles this rank holds, and where. Whatever would be cut wrongly is an InputError that says the numbers.
"""

from fse_core.slots.geometry import Geometry, Piece, check_layout, pieces
from fse_core.slots.layout import LAYOUTS, PLAIN, Layout, layout
from fse_core.slots.names import PROJECTIONS, Part, Projection, SharedTensor, parse
from fse_core.slots.shapes import check_shape, shapes
from fse_core.slots.window import Window

__all__ = [
    "LAYOUTS",
    "PLAIN",
    "PROJECTIONS",
    "Geometry",
    "Layout",
    "Part",
    "Piece",
    "Projection",
    "SharedTensor",
    "Window",
    "check_layout",
    "check_shape",
    "layout",
    "parse",
    "pieces",
    "shapes",
]
