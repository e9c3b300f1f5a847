"""How a number format stores a matrix of weights: what is next to what, and which weights share a scale."""

from collections.abc import Mapping
from dataclasses import dataclass

from fse_core.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Layout:
    """One format's storage.

    weight_type, scale_type: the element types, as torch and safetensors users know them.
    packed: how many weights, next to each other in a row, one stored element holds.
    block: how many rows and columns share a scale, None for all that there are.
    scale: what the scale's tensor is called beside `weight`, None where there is none.
    """

    name: str
    weight_type: str
    packed: int = 1
    block: tuple[int | None, int | None] = (None, None)
    scale: str | None = "weight_scale"
    scale_type: str = "float32"

    @property
    def unit(self) -> int:
        """What a slot's sharded dimension must be a multiple of on each rank."""
        return max(self.packed, *(size or 1 for size in self.block))

    @property
    def group(self) -> int:
        """What a row's length must be a multiple of: a block may end short at the matrix's edge, a group may not."""
        rows, columns = self.block
        return columns if rows == 1 and columns is not None else 1

    @property
    def tensors(self) -> tuple[str, ...]:
        """The fused tensors of a layer in this format."""
        parts = ("weight",) if self.scale is None else ("weight", self.scale)
        return tuple(f"{fused}_{part}" for part in parts for fused in ("w13", "w2"))


PLAIN = Layout(name="plain", weight_type="bfloat16", scale=None)
"""No format at all: the weights as they are. Their type is whatever the fused tensors have."""

LAYOUTS: Mapping[str, Layout] = {
    layout.name: layout
    for layout in (
        PLAIN,
        Layout(name="mxfp4", weight_type="uint8", packed=2, block=(1, 32), scale_type="uint8"),
        Layout(name="mxfp8", weight_type="float8_e4m3fn", block=(1, 32), scale_type="uint8"),
        Layout(name="fp8_block", weight_type="float8_e4m3fn", block=(128, 128), scale="weight_scale_inv"),
        Layout(name="fp8_channel", weight_type="float8_e4m3fn", block=(1, None)),
        Layout(name="fp8_tensor", weight_type="float8_e4m3fn"),
    )
}


def layout(name: str) -> Layout:
    """The layout of a format. InputError where shared experts cannot be brought into it."""
    if name in LAYOUTS:
        return LAYOUTS[name]
    if name.startswith("mxfp6"):
        raise InputError("format", f"the routed experts are {name}: no shared expert can be stored as MXFP6")
    raise InputError("format", f"{name!r} is none of {', '.join(LAYOUTS)}")
