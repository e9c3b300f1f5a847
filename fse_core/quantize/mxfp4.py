"""MXFP4: e2m1 elements, two a byte with the even column low, and a power-of-two scale for each 32 columns."""

import dataclasses
import functools
from typing import ClassVar, Literal

import torch

from fse_core.errors import InputError
from fse_core.quantize import mxfp4_aiter, mxfp4_blocked
from fse_core.quantize.base import Format, Quantized, Storage
from fse_core.quantize.e8m0 import GROUP, bounded, even, powers
from fse_core.quantize.rounding import bits, decoded, encode, magnitude

EMAX = 2
TOP = 7


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mxfp4(Format):
    """Scale by rule `even`, elements to the nearest with ties to even, saturating at 6.

    Two targets differ in one thing, the sign of an element that rounds to zero: vLLM keeps it (`zero="signed"`), AMD
    Quark's export writes +0 (`zero="positive"`). Zeros: scale byte 0. Groups below 2^-124: scale byte 0, elements by
    the same rule. Inf and NaN: scale byte 254, the element 6 with its sign; e2m1 has neither, and read back the element
    is Inf in float32. Where aiter's kernel is used, a group with NaN has other bytes.
    """

    name: ClassVar[str] = "mxfp4"
    zero: Literal["signed", "positive"] = "signed"

    def storage(self, rows: int, columns: int) -> Storage:
        """Row-major, as checkpoints keep it, before any kernel's shuffle or padding."""
        if columns % GROUP:
            raise InputError("weight", f"mxfp4 needs columns in multiples of {GROUP}, got {rows} x {columns}")
        return Storage(
            payload_shape=(rows, columns // 2),
            payload_dtype=torch.uint8,
            scale_shape=(rows, columns // GROUP),
            scale_dtype=torch.uint8,
            scale_suffix="weight_scale",
            row_alignment=1,
            column_alignment=GROUP,
        )

    def reference(self, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Payload [R, K/2] and scale [R, K/32], both uint8."""
        rows, columns = weight.shape
        raw = bits(weight).reshape(rows, columns // GROUP, GROUP)
        size = magnitude(raw)
        amax = size.amax(-1)
        # The largest finite values round up to an exponent that is Inf's: they get the largest scale too.
        rounded = even(amax, 1, EMAX)
        scale = bounded(torch.where(rounded >= 255 - EMAX, 254, rounded), amax)
        code = encode(size, scale.unsqueeze(-1), 1, TOP)
        sign = (raw >> 28) & 8
        if self.zero == "positive":
            sign = torch.where(code > 0, sign, 0)
        nibble = (code | sign).view(rows, columns // 2, 2)
        return (nibble[..., 0] | (nibble[..., 1] << 4)).to(torch.uint8), scale.to(torch.uint8)

    def dequantize(self, quantized: Quantized, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        """The values, [R, K]."""
        payload = quantized.payload
        rows, groups = quantized.scale.shape
        pairs = _pairs(payload.device).index_select(0, payload.reshape(-1).int())
        grouped = pairs.view(torch.float32).view(rows, groups, GROUP)
        return grouped.mul_(powers(quantized.scale).unsqueeze(-1)).view(rows, groups * GROUP).to(dtype)

    def _blocked(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        if weight.dtype == torch.bfloat16:
            mxfp4_blocked.fill(weight, payload, scale, reference=self.reference, positive=self.zero == "positive")
        else:
            self._chunked(self.reference, weight, payload, scale)

    def _triton(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        from fse_core.quantize import mxfp4_triton

        mxfp4_triton.fill(weight, payload, scale, positive=self.zero == "positive")

    def _native(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> bool:
        return self.zero == "signed" and mxfp4_aiter.fill(weight, payload, scale)


@functools.cache
def _pairs(device: torch.device) -> torch.Tensor:
    """The two float32 that each byte stands for, read as one float64: so one look-up gives both."""
    positive = decoded(mantissa=1, exponent=2, bias=1)
    values = torch.cat((positive, -positive))
    return (
        torch.stack((values.repeat(16), values.repeat_interleave(16)), dim=-1).view(torch.float64).view(-1).to(device)
    )


FORMAT = Mxfp4()
