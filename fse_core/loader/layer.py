"""One layer's slots: what has come for them, and what is done with each tensor."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from fse_core import slots
from fse_core.errors import InputError
from fse_core.loader.fused import FusedLayer, Views, check_fused, cut
from fse_core.quantize import Format
from fse_core.slots import PLAIN, Piece, Projection, SharedTensor

FULL_PRECISION = (torch.bfloat16, torch.float16, torch.float32)
PROJECTIONS: tuple[Projection, ...] = ("gate", "up", "down")


@dataclass(frozen=True, kw_only=True)
class LayerReport:
    """What was done for one layer: which of the checkpoint's tensors were quantized and copied, into which slots."""

    shared: str
    slots: range
    quantized: tuple[str, ...]
    copied: tuple[str, ...]


@dataclass(kw_only=True)
class _Arrived:
    """Which tensors brought one projection. `quantized`: its weight came in full precision, so no scale is to come."""

    weight: str | None = None
    scale: str | None = None
    quantized: bool = False


class LayerSlots:
    """The slots of one layer."""

    def __init__(self, layer: FusedLayer, format: Format | None) -> None:
        self.shared, self.geometry = layer.shared, layer.geometry
        self.format = format
        self.layout = PLAIN if format is None else slots.layout(format.name)
        slots.check_layout(layer.geometry, self.layout)
        check_fused(layer, self.layout)
        self.views = Views(tensors=layer.tensors, layout=self.layout)
        self.arrived: dict[Projection, _Arrived] = {projection: _Arrived() for projection in PROJECTIONS}

    def take(self, shared: SharedTensor, tensor: Tensor) -> None:
        """Quantize or copy one tensor. InputError, before anything is written, where it is not what it must be."""
        for projection in shared.projections:
            before = getattr(self.arrived[projection], shared.part)
            if before is not None:
                again = "a second time" if before == shared.name else f"though {before} brought it"
                raise InputError(shared.name, f"the {projection} projection's {shared.part} comes {again}")
        if shared.part == "scale":
            self._take_scale(shared, tensor)
        else:
            self._take_weight(shared, tensor)

    def missing(self) -> Iterator[str]:
        """The names of what has not come."""
        for projection, came in self.arrived.items():
            name = f"{self.shared}.{projection}_proj"
            if came.weight is None:
                yield f"{name}.weight"
            if came.scale is None and self.layout.scale is not None and came.weight is not None and not came.quantized:
                yield f"{name}.{self.layout.scale}"

    def report(self) -> LayerReport:
        """What was done so far."""
        came = self.arrived.values()
        quantized = dict.fromkeys(one.weight for one in came if one.weight and one.quantized)
        weights = [one.weight for one in came if one.weight and not one.quantized]
        scales = [one.scale for one in came if one.scale]
        copied = dict.fromkeys(weights + scales)
        return LayerReport(
            shared=self.shared, slots=self.geometry.slots, quantized=tuple(quantized), copied=tuple(copied)
        )

    def _take_weight(self, shared: SharedTensor, tensor: Tensor) -> None:
        target = self.views.fused("w13").dtype
        online = self.format if tensor.dtype in FULL_PRECISION else None
        if online is None and tensor.dtype != target:
            wanted = f"neither {self.layout.name} ({target}) nor in full precision" if self.format else f"not {target}"
            raise InputError(shared.name, f"is {tensor.dtype}: {wanted}")
        slots.check_shape(self.geometry, PLAIN if online else self.layout, shared, tuple(tensor.shape))
        for projection in shared.projections:
            came = self.arrived[projection]
            if online and came.scale is not None:
                raise InputError(
                    shared.name, f"is {tensor.dtype}, in full precision, and {came.scale} is a scale for it"
                )
        for piece in self._pieces(shared):
            if online:
                self._quantize(piece, tensor, online)
            else:
                self.views.weight_slot(piece).copy_(self.views.weights(tensor, piece.source))
        for projection in shared.projections:
            self.arrived[projection].weight = shared.name
            self.arrived[projection].quantized = online is not None

    def _take_scale(self, shared: SharedTensor, tensor: Tensor) -> None:
        slots.check_shape(self.geometry, self.layout, shared, tuple(tensor.shape))
        target = self.views.fused("w13", "scale").dtype
        exponents = tensor.view(torch.uint8) if tensor.dtype == torch.float8_e8m0fnu else tensor
        if exponents.dtype != target and not {exponents.dtype, target} <= set(FULL_PRECISION):
            raise InputError(shared.name, f"is {tensor.dtype}, and {self.layout.name} has {target} scales")
        for projection in shared.projections:
            if self.arrived[projection].quantized:
                weight = self.arrived[projection].weight
                raise InputError(shared.name, f"is a scale for {weight}, which came in full precision")
        for piece in self._pieces(shared):
            self.views.scale_slot(piece).copy_(self.views.scales(exponents, piece.source))
        for projection in shared.projections:
            self.arrived[projection].scale = shared.name

    def _pieces(self, shared: SharedTensor) -> Iterator[Piece]:
        return slots.pieces(self.geometry, shared.projections, seam=self.views.seam)

    def _quantize(self, piece: Piece, tensor: Tensor, format: Format) -> None:
        weight, scale = self.views.weight_slot(piece), self.views.scale_slot(piece)
        if piece.quantizes_apart(self.layout):
            format.quantize(cut(tensor, piece.source).to(weight.device), payload=weight, scale=scale)
            return
        # Its scales depend on what other ranks hold: the whole slot is quantized, and this rank's share of it kept.
        whole = format.quantize(cut(tensor, piece.whole).to(weight.device))
        share = piece.source.within(piece.whole)
        weight.copy_(self.views.weights(whole.payload, share))
        scale.copy_(self.views.scales(whole.scale, share))
