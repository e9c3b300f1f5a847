"""MXFP8: e4m3 elements, and a power-of-two scale for each 32 columns."""

import dataclasses
from typing import ClassVar, Literal

import torch

from fse_core.errors import InputError
from fse_core.quantize import e4m3, mxfp8_blocked
from fse_core.quantize.base import Format, Quantized, Storage
from fse_core.quantize.e8m0 import GROUP, bounded, even, powers, rceil
from fse_core.quantize.rounding import bits, magnitude


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mxfp8(Format):
    """Scale by rule `rceil`, the least at which nothing exceeds 448 (vLLM), or `even`, which may saturate (AMD Quark).

    Elements go to the nearest with ties to even, saturating at 448. Zeros: scale byte 0, the zeros' signs kept. Inf and
    NaN: scale byte 254; Inf becomes 448 with its sign, NaN the code 0x7F.
    """

    name: ClassVar[str] = "mxfp8"
    rule: Literal["rceil", "even"] = "rceil"

    def storage(self, rows: int, columns: int) -> Storage:
        """Row-major, as checkpoints keep it, before any kernel's swizzle."""
        if columns % GROUP:
            raise InputError("weight", f"mxfp8 needs columns in multiples of {GROUP}, got {rows} x {columns}")
        return Storage(
            payload_shape=(rows, columns),
            payload_dtype=torch.float8_e4m3fn,
            scale_shape=(rows, columns // GROUP),
            scale_dtype=torch.uint8,
            scale_suffix="weight_scale",
            row_alignment=1,
            column_alignment=GROUP,
        )

    def reference(self, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Payload [R, K] and scale [R, K/32], both uint8."""
        rows, columns = weight.shape
        raw = bits(weight).reshape(rows, columns // GROUP, GROUP)
        scale = self.scales(magnitude(raw).amax(-1))
        codes = e4m3.codes(raw, scale.unsqueeze(-1) + e4m3.EMIN)
        return codes.view(rows, columns), scale.to(torch.uint8)

    def scales(self, amax: torch.Tensor) -> torch.Tensor:
        """The scale bytes, as int32, of groups whose largest magnitudes have these float32 bits."""
        if self.rule == "rceil":
            return bounded(rceil(amax, e4m3.FRACTION, e4m3.EMAX), amax)
        return bounded(even(amax, 3, e4m3.EMAX), amax)

    def dequantize(self, quantized: Quantized, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        """The values, [R, K]."""
        rows, columns = quantized.payload.shape
        grouped = quantized.payload.float().view(rows, columns // GROUP, GROUP)
        return (grouped * powers(quantized.scale).unsqueeze(-1)).view(rows, columns).to(dtype)

    def _blocked(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        if weight.dtype == torch.bfloat16:
            mxfp8_blocked.fill(weight, payload, scale, reference=self.reference, scales=self.scales)
        else:
            self._chunked(self.reference, weight, payload, scale)

    def _triton(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        from fse_core.quantize import mxfp8_triton

        mxfp8_triton.fill(weight, payload, scale, even=self.rule == "even")


FORMAT = Mxfp8()
