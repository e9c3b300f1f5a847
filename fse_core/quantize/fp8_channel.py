"""FP8 e4m3 with a float32 scale for each row."""

import dataclasses
from typing import ClassVar

import torch

from fse_core.quantize import e4m3, fp8_blocked
from fse_core.quantize.base import Format, Quantized, Storage
from fse_core.quantize.rounding import bits, magnitude

# No row's scale is smaller.
SMALLEST = 1.0 / (e4m3.LARGEST * 512)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fp8Channel(Format):
    """Scale amax / 448, at least 1 / (448 * 512); elements are divided by it, both rounded once to float32.

    As layers/quantization/online/fp8.py:86-107 at 0.33.0. Nearest with ties to even, saturating at 448. Zeros keep
    their signs. Inf or NaN in a row: its scale is NaN and all its codes 0x7F.
    """

    name: ClassVar[str] = "fp8_channel"

    def storage(self, rows: int, columns: int) -> Storage:
        """One scale a row."""
        return Storage(
            payload_shape=(rows, columns),
            payload_dtype=torch.float8_e4m3fn,
            scale_shape=(rows,),
            scale_dtype=torch.float32,
            scale_suffix="weight_scale",
            row_alignment=1,
            column_alignment=1,
        )

    def reference(self, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Payload [R, K] as uint8 and scale [R] as float32."""
        amax = magnitude(bits(weight)).amax(-1).view(torch.float32)
        scale = channel_scale(amax)
        return e4m3.codes(bits(e4m3.divided(weight, scale.unsqueeze(-1)))), scale

    def dequantize(self, quantized: Quantized, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        """The values, [R, K]."""
        return (quantized.payload.float() * quantized.scale.unsqueeze(-1)).to(dtype)

    def _blocked(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        fp8_blocked.fill_rows(weight, payload, scale, scales=channel_scale)

    def _triton(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        from fse_core.quantize import fp8_rows_triton

        fp8_rows_triton.fill_rows(weight, payload, scale)


def channel_scale(amax: torch.Tensor) -> torch.Tensor:
    """The scales of rows with these largest magnitudes."""
    return e4m3.over_largest(amax, SMALLEST)


FORMAT = Fp8Channel()
