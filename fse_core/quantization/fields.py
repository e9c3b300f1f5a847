"""The parameters that the release makes for a module's weights: what each is called, and what it holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

FieldKind = Literal["weight", "grid", "row", "column", "one", "both"]


@dataclass(frozen=True, kw_only=True)
class Field:
    """One parameter beside others of a projection.

    leaf: its name behind the projection's, in checkpoint and release alike. dtype: as safetensors calls it.
    kind: the `weight` itself; a `grid` of scales, one for each block; one scale a `row`, or the same as a `column` of
        two dimensions; `one` number a projection; one number for `both` of gate and up.
    packed: how many numbers of a row one element holds. block: the rows and columns that share a scale.
    """

    leaf: str
    kind: FieldKind
    dtype: str
    packed: int = 1
    block: tuple[int, int] = (1, 1)


Fields = tuple[Field, ...]

PLAIN: Fields = (Field(leaf="weight", kind="weight", dtype="BF16"),)
_BYTES = Field(leaf="weight", kind="weight", dtype="F8_E4M3")
_PACKED = Field(leaf="weight", kind="weight", dtype="U8", packed=2)
_INPUT = Field(leaf="input_scale", kind="both", dtype="F32")


def fp8_tensor(*, static: bool) -> Fields:
    """FP8 with one scale, and one for the activations where that is `static`."""
    return (_BYTES, Field(leaf="weight_scale", kind="one", dtype="F32"), *((_INPUT,) if static else ()))


def fp8_rows(*, column: bool, static: bool = False) -> Fields:
    """FP8 with one scale a row."""
    scale = Field(leaf="weight_scale", kind="column" if column else "row", dtype="F32")
    return (_BYTES, scale, *((_INPUT,) if static else ()))


def fp8_blocks(leaf: str, block: tuple[int, int]) -> Fields:
    """FP8 with one scale a block."""
    return (_BYTES, Field(leaf=leaf, kind="grid", dtype="F32", block=block))


def mxfp4(*, static: bool = False) -> Fields:
    """Two numbers a byte, and one scale for each 32 of a row."""
    scale = Field(leaf="weight_scale", kind="grid", dtype="U8", block=(1, 32))
    return (_PACKED, scale, *((_INPUT,) if static else ()))


def mxfp8() -> Fields:
    """A byte a number, and one scale for each 32 of a row."""
    return (_BYTES, Field(leaf="weight_scale", kind="grid", dtype="U8", block=(1, 32)))


def nvfp4() -> Fields:
    """Two numbers a byte, one scale for each 16 of a row, and two for the whole."""
    return (
        _PACKED,
        Field(leaf="weight_scale", kind="grid", dtype="F8_E4M3", block=(1, 16)),
        Field(leaf="weight_scale_2", kind="one", dtype="F32"),
        Field(leaf="input_scale", kind="one", dtype="F32"),
    )


def is_static(spec: Any) -> bool:
    """Whether a block's words for activations say that their scale is stored."""
    return isinstance(spec, Mapping) and not spec.get("is_dynamic") and not spec.get("dynamic")
