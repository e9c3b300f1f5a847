"""Which tensors of a checkpoint are shared experts', and how the routed experts beside them are stored."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from fse_core.convert.checkpoint import Checkpoint
from fse_core.convert.layouts import Stored, bytes_of, recognize, weight_and_scale
from fse_core.convert.safetensors import Tensor
from fse_core.errors import InputError
from fse_core.slots import (
    LAYOUTS,
    PLAIN,
    PROJECTIONS,
    Geometry,
    Layout,
    Projection,
    SharedTensor,
    check_layout,
    check_shape,
)

_SHARED: Final = re.compile(
    r"(?P<moe>(?:.+\.)?layers\.(?P<index>\d+)\.(?:.+\.)?[^.]+)\.shared_experts?\.(?P<leaf>[^.]+)\.(?P<kind>[^.]+)"
)
_ROUTED: Final = re.compile(r"(?P<moe>.+)\.experts\.0\.(?P<leaf>[^.]+)\.(?P<kind>[^.]+)")
_ROLES: Final[Mapping[str, Projection]] = {leaf: held[0] for leaf, held in PROJECTIONS.items() if len(held) == 1}
_FULL: Final = frozenset({"BF16", "F16", "F32"})
_SCALES: Final = ("weight_scale", "weight_scale_inv")


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """One projection of an expert: the module's name, and its tensors by the last part of their names."""

    role: Projection
    module: str
    tensors: Mapping[str, Tensor]

    @property
    def weight(self) -> Tensor:
        return self.tensors["weight"]

    @property
    def scale(self) -> Tensor | None:
        return next((self.tensors[name] for name in _SCALES if name in self.tensors), None)


@dataclass(frozen=True, kw_only=True)
class Conversion:
    """A shared projection and the routed one that it is to be stored like.

    `source` is the layout of what is there, PLAIN for full precision.
    """

    index: int
    shared: Matrix
    routed: Matrix
    geometry: Geometry
    layout: Layout
    source: Layout = PLAIN

    @property
    def rows(self) -> int:
        return self.shared.weight.shape[0]

    @property
    def columns(self) -> int:
        return self.shared.weight.shape[1]

    @property
    def source_name(self) -> str:
        """What is there, for people."""
        return self.shared.weight.dtype if self.source is PLAIN else self.source.name

    @cached_property
    def outputs(self) -> tuple[Tensor, Tensor]:
        """The payload and the scale as they will be, named and shaped as the routed expert's are."""
        like = self.routed.scale
        assert like is not None
        weights, scales = weight_and_scale(self.layout, self.geometry, self.shared.role)
        scale = next(shape for shape in scales if len(shape) == len(like.shape))
        suffix = like.name.rpartition(".")[2]
        return (
            _tensor(f"{self.shared.module}.weight", (self.routed.weight.dtype, weights[0])),
            _tensor(f"{self.shared.module}.{suffix}", (like.dtype, scale)),
        )


def _tensor(name: str, stored: Stored) -> Tensor:
    return Tensor(name=name, dtype=stored[0], shape=stored[1], end=bytes_of(stored))


def conversions(checkpoint: Checkpoint, slots: Mapping[int, int]) -> tuple[Conversion, ...]:
    """What is to be converted, by layer. `slots` is the number of shared experts of each layer that has some.

    A layer whose routed experts have full precision is left as it is, and so is one whose shared experts are stored
    like the routed ones already.
    """
    shared: dict[tuple[str, int], dict[str, Matrix]] = {}
    routed: dict[str, dict[str, Matrix]] = {}
    for name, (_, tensor) in checkpoint.places.items():
        if match := _SHARED.fullmatch(name):
            _add(shared.setdefault((match["moe"], int(match["index"])), {}), match, tensor)
        elif (match := _ROUTED.fullmatch(name)) and match["leaf"] in _ROLES:
            _add(routed.setdefault(match["moe"], {}), match, tensor)
    found = [
        conversion
        for (moe, index), matrices in shared.items()
        for conversion in _layer(moe, index, matrices, routed.get(moe, {}), slots)
    ]
    return tuple(sorted(found, key=lambda one: (one.index, one.shared.module)))


def _add(layer: dict[str, Matrix], match: re.Match[str], tensor: Tensor) -> None:
    module, leaf = tensor.name.rpartition(".")[0], match["leaf"]
    if leaf not in _ROLES:
        names = ", ".join(sorted(_ROLES))
        raise InputError(module, f"expected {names}: vLLM finds no slot for a shared tensor of another name")
    role = _ROLES[leaf]
    tensors = layer[role].tensors if role in layer else {}
    layer[role] = Matrix(role=role, module=module, tensors={**tensors, match["kind"]: tensor})


def _layer(
    moe: str, index: int, shared: Mapping[str, Matrix], routed: Mapping[str, Matrix], slots: Mapping[int, int]
) -> Iterator[Conversion]:
    for which, matrices in (("shared", shared), ("routed", routed)):
        if matrices and matrices.keys() != {"gate", "up", "down"}:
            modules = ", ".join(sorted(one.module for one in matrices.values()))
            raise InputError(moe, f"expected three {which} projections, got {modules}")
    if not routed:
        raise InputError(f"{moe}.experts", "expected one tensor an expert and projection, such as experts.0.down_proj")
    for one in (*shared.values(), *routed.values()):
        if "weight" not in one.tensors or len(one.weight.shape) != 2:
            held = ", ".join(f"{name} {list(tensor.shape)}" for name, tensor in sorted(one.tensors.items()))
            raise InputError(one.module, f"expected a tensor `weight` of two dimensions, got {held}")
    # A down projection's rows are not packed, in any format.
    geometry = Geometry(
        hidden=routed["down"].weight.shape[0],
        intermediate=routed["gate"].weight.shape[0],
        routed=0,
        shared=slots.get(index, next(iter(slots.values()), 1)),
    )
    for role, one in shared.items():
        conversion = _conversion(index, one, routed[role], geometry)
        if conversion is not None:
            yield conversion


def _conversion(index: int, shared: Matrix, routed: Matrix, geometry: Geometry) -> Conversion | None:
    if routed.weight.dtype in _FULL:
        return None
    layout = _layout(routed, geometry)
    source = PLAIN
    if shared.weight.dtype not in _FULL:
        found = _recognized(shared, geometry)
        if found is layout:
            return None
        if found is not LAYOUTS["fp8_block"]:
            held = f"{shared.weight.dtype} {list(shared.weight.shape)}"
            raise InputError(
                shared.weight.name, f"expected bfloat16, float16, float32, or FP8 in 128x128 blocks, got {held}"
            )
        source = found
    _require_alone(shared, source)
    tensor = SharedTensor(name=shared.weight.name, projections=(shared.role,), part="weight")
    check_shape(geometry, source, tensor, shared.weight.shape)
    _require(layout, geometry, shared)
    return Conversion(index=index, shared=shared, routed=routed, geometry=geometry, layout=layout, source=source)


def _require_alone(shared: Matrix, source: Layout) -> None:
    """A conversion replaces a weight, and its scale where it has one: nothing else may be lost with them."""
    scale = None if source is PLAIN else shared.scale
    more = [tensor.name for tensor in shared.tensors.values() if tensor not in (shared.weight, scale)]
    if more:
        raise InputError(shared.module, f"has {', '.join(sorted(more))} beside its weight, which would be lost")


def _require(layout: Layout, geometry: Geometry, shared: Matrix) -> None:
    if layout.block == (1, None) and geometry.shared > 1:
        raise InputError(
            shared.module, f"{geometry.shared} shared experts with one scale a row are loaded wrongly by every release"
        )
    try:
        check_layout(geometry, layout)
    except InputError as error:
        raise InputError(shared.module, str(error)) from None


def _recognized(one: Matrix, geometry: Geometry) -> Layout | None:
    scale = one.scale
    if scale is None:
        return None
    return recognize((one.weight.dtype, one.weight.shape), (scale.dtype, scale.shape), geometry, one.role)


def _layout(routed: Matrix, geometry: Geometry) -> Layout:
    """The routed expert's format, from what its tensors are."""
    weight, scale = routed.weight, routed.scale
    more = sorted(set(routed.tensors) - {"weight", *_SCALES})
    if more:
        raise InputError(routed.module, f"has {', '.join(more)} beside its weight and scale, which is not converted to")
    single = Geometry(hidden=geometry.hidden, intermediate=geometry.intermediate, routed=0)
    found = _recognized(routed, single)
    if found is not None:
        return found
    columns = geometry.intermediate if routed.role == "down" else geometry.hidden
    if weight.dtype == "U8" and weight.shape[1] * 4 == columns * 3:
        raise InputError(routed.module, "is MXFP6, which no gate admits beside shared experts")
    scaled = "no scale" if scale is None else f"a scale of {scale.dtype} {list(scale.shape)}"
    raise InputError(
        routed.module,
        f"expected MXFP4, MXFP8, FP8 in 128x128 blocks or FP8 with one scale a row for {columns} columns; "
        f"got {weight.dtype} {list(weight.shape)} and {scaled}",
    )


def check_loss(found: tuple[Conversion, ...], *, accept: bool) -> None:
    """Refuse what loses precision twice, unless that is accepted."""
    lossy = [one for one in found if one.source is not PLAIN]
    for one in lossy:
        if one.layout is not LAYOUTS["mxfp4"]:
            raise InputError(one.shared.module, f"is FP8 in blocks, which is not converted to {one.layout.name}")
    if lossy and not accept:
        raise InputError(
            lossy[0].shared.module,
            f"is FP8 in blocks already ({len(lossy)} tensors are): making MXFP4 of it loses up to 8.6 points of "
            "flexible GSM8K, as published; --accept-loss does it all the same",
        )
