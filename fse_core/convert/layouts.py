"""Which number format a stored weight is in, told from its types and shapes."""

from collections.abc import Mapping
from typing import Final

from fse_core.read.safetensors.dtypes import BITS
from fse_core.slots import LAYOUTS, Geometry, Layout, Projection, SharedTensor, shapes

TYPES: Final[Mapping[str, frozenset[str]]] = {
    "uint8": frozenset({"U8", "F8_E8M0"}),
    "float8_e4m3fn": frozenset({"F8_E4M3"}),
    "float32": frozenset({"F32"}),
}
"""What the types of a layout are called in a safetensors header. A scale of type U8 is e8m0, by either name."""

FORMATS: Final = ("mxfp4", "mxfp8", "fp8_block", "fp8_channel")
"""What shared experts are converted to."""

Shape = tuple[int, ...]
Stored = tuple[str, Shape]
"""A tensor's type, as its header has it, and its shape."""


def bytes_of(stored: Stored) -> int:
    """What a tensor takes."""
    bits = BITS[stored[0]]
    for length in stored[1]:
        bits *= length
    return bits // 8


def weight_and_scale(
    layout: Layout, geometry: Geometry, projection: Projection
) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """The shapes that the weight and the scale of a projection may have."""
    weight, scale = (SharedTensor(name="", projections=(projection,), part=part) for part in ("weight", "scale"))
    return shapes(geometry, layout, weight), shapes(geometry, layout, scale)


def recognize(weight: Stored, scale: Stored, geometry: Geometry, projection: Projection) -> Layout | None:
    """The format of a stored projection, None where it is none of FORMATS."""
    for name in FORMATS:
        layout = LAYOUTS[name]
        weights, scales = weight_and_scale(layout, geometry, projection)
        typed = weight[0] in TYPES[layout.weight_type] and scale[0] in TYPES[layout.scale_type]
        if typed and weight[1] in weights and scale[1] in scales:
            return layout
    return None
