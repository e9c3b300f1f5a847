"""What a number format is: how it stores a weight, how it makes the bytes, and how far they are from the weight."""

import dataclasses
import functools
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal

import torch

from fse_core.errors import InputError
from fse_core.quantize.chunks import row_chunks
from fse_core.quantize.devices import has_triton, say_once

FLOATS = (torch.bfloat16, torch.float16, torch.float32)

Backend = Literal["auto", "reference", "compiled", "blocked", "triton"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Quantized:
    """A weight's bytes: the payload, and the scales to read it with."""

    payload: torch.Tensor
    scale: torch.Tensor


@dataclasses.dataclass(frozen=True, kw_only=True)
class Storage:
    """How a checkpoint stores one weight of a given shape in a format."""

    payload_shape: tuple[int, ...]
    payload_dtype: torch.dtype
    scale_shape: tuple[int, ...]
    scale_dtype: torch.dtype
    scale_suffix: str
    row_alignment: int
    column_alignment: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Error:
    """How far the bytes are from the weight. Both are NaN where the weight or the bytes hold Inf or NaN."""

    relative_mse: float
    largest: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Format(ABC):
    """One number format. The reference says what the bytes are; every other way to make them gives the same.

    Input is a 2-D weight in bfloat16, float16 or float32, of any strides. Each is widened to float32, which is exact,
    and the rule is stated on float32: a float32 weight is rounded once, never by way of bfloat16.
    """

    name: ClassVar[str]
    # So many rows share a scale and have to be quantized together; None: all of them.
    row_block: ClassVar[int | None] = 1
    backend: Backend = "auto"

    @abstractmethod
    def storage(self, rows: int, columns: int) -> Storage:
        """What a weight of this shape becomes; InputError where its columns do not divide."""

    @abstractmethod
    def reference(self, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The payload, as uint8, and the scale: pure tensor arithmetic, which `torch.compile` takes as it is."""

    @abstractmethod
    def dequantize(self, quantized: Quantized, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        """The values that the bytes stand for, computed in float32 and rounded to `dtype`."""

    @abstractmethod
    def _blocked(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        """Write the same bytes on a CPU, a cacheful of rows at a time."""

    @abstractmethod
    def _triton(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        """Write the same bytes by a Triton kernel, of a weight for which `_triton_takes` holds."""

    def _triton_takes(self, weight: torch.Tensor) -> bool:
        """The kernels read bfloat16 in pairs."""
        return weight.dtype == torch.bfloat16 and weight.shape[1] % 2 == 0 and has_triton()

    def _native(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> bool:
        """Write the same bytes by a kernel that the platform brings; False where there is none to be trusted."""
        return False

    def quantize(
        self, weight: torch.Tensor, *, payload: torch.Tensor | None = None, scale: torch.Tensor | None = None
    ) -> Quantized:
        """The weight's bytes, written into `payload` and `scale` where given: those may be slices of larger tensors."""
        _check_weight(weight)
        storage = self.storage(*weight.shape)
        done = Quantized(
            payload=_output("payload", payload, storage.payload_shape, storage.payload_dtype, weight.device),
            scale=_output("scale", scale, storage.scale_shape, storage.scale_dtype, weight.device),
        )
        if weight.numel():
            self._fill(weight, done.payload, done.scale)
        return done

    def error(self, weight: torch.Tensor, quantized: Quantized) -> Error:
        """The mean squared error over the weight's mean square, and the largest difference of one element."""
        squares = noise = torch.zeros((), dtype=torch.float64, device=weight.device)
        largest = torch.zeros((), device=weight.device)
        if weight.numel() == 0:
            return Error(relative_mse=0.0, largest=0.0)
        values = self.dequantize(quantized, torch.float32)
        for rows in row_chunks(weight):
            exact = weight[rows].float()
            difference = (exact - values[rows]).abs_()
            largest = torch.maximum(largest, difference.amax())
            squares = squares + exact.double().square_().sum()
            noise = noise + difference.double().square_().sum()
        relative = noise / squares if float(squares) else noise
        return Error(relative_mse=float(relative), largest=float(largest))

    def _fill(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        match self.backend:
            case "auto":
                self._choose(weight, payload, scale)
            case "triton":
                self._triton(weight, payload, scale)
            case "blocked":
                self._blocked(weight, payload, scale)
            case "compiled":
                self._chunked(_compiled(self), weight, payload, scale)
            case "reference":
                self._chunked(self.reference, weight, payload, scale)

    def _choose(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        if self._native(weight, payload, scale):
            return
        if weight.device.type == "cuda" and self._triton_takes(weight):
            say_once(f"{self.name}: quantizing on {weight.device.type} with this project's Triton kernel")
            self._triton(weight, payload, scale)
        elif weight.device.type == "cpu" and sys.byteorder == "little":
            self._blocked(weight, payload, scale)
        else:
            say_once(f"{self.name}: quantizing {weight.dtype} on {weight.device.type} with the torch reference")
            self._chunked(self.reference, weight, payload, scale)

    def _chunked(
        self,
        reference: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]],
        weight: torch.Tensor,
        payload: torch.Tensor,
        scale: torch.Tensor,
    ) -> None:
        for rows in row_chunks(weight, self.row_block):
            codes, scales = reference(weight[rows])
            payload[rows].copy_(codes.view(payload.dtype))
            self.scale_rows(scale, rows).copy_(scales)

    def scale_rows(self, scale: torch.Tensor, rows: slice) -> torch.Tensor:
        """The scales of these rows, which begin at a block's first."""
        if self.row_block is None:
            return scale
        return scale[rows.start // self.row_block : -(-rows.stop // self.row_block)]


@functools.cache
def _compiled(form: Format) -> Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]:
    return torch.compile(form.reference, dynamic=True)


def _check_weight(weight: torch.Tensor) -> None:
    if weight.dim() != 2:
        raise InputError("weight", f"expected 2 dimensions, got shape {tuple(weight.shape)}")
    if weight.dtype not in FLOATS:
        raise InputError("weight", f"expected bfloat16, float16 or float32, got {weight.dtype}")


def _output(
    name: str, given: torch.Tensor | None, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    if given is None:
        return torch.empty(shape, dtype=dtype, device=device)
    if tuple(given.shape) != shape or given.dtype != dtype or given.device != device:
        has = f"{given.dtype} {tuple(given.shape)} on {given.device}"
        raise InputError(name, f"expected {dtype} {shape} on {device}, got {has}")
    return given
