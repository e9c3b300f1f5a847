"""FP8 e4m3 with one float32 scale for the whole tensor."""

import dataclasses
from typing import ClassVar

import torch

from fse_core.quantize import e4m3, fp8_blocked
from fse_core.quantize.base import Format, Quantized, Storage
from fse_core.quantize.rounding import bits, magnitude

# The scale is not smaller: its reciprocal would overflow.
SMALLEST = 2.0**-126


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fp8Tensor(Format):
    """Scale amax / 448; elements are multiplied by its reciprocal, each rounded once to float32.

    As layers/quantization/online/fp8.py:245-246 at 0.33.0 and the kernel that it calls. Nearest with ties to even,
    saturating at 448. A tensor of zeros: scale 1, signs kept. The scale is never below 2^-126. Inf or NaN anywhere:
    scale NaN, all codes 0x7F.
    """

    name: ClassVar[str] = "fp8_tensor"
    row_block: ClassVar[int | None] = None

    def storage(self, rows: int, columns: int) -> Storage:
        """One scale, stored with one dimension."""
        return Storage(
            payload_shape=(rows, columns),
            payload_dtype=torch.float8_e4m3fn,
            scale_shape=(1,),
            scale_dtype=torch.float32,
            scale_suffix="weight_scale",
            row_alignment=1,
            column_alignment=1,
        )

    def reference(self, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Payload [R, K] as uint8 and scale [1] as float32."""
        amax = magnitude(bits(weight)).amax().view(torch.float32)
        scale = tensor_scale(amax.view(1))
        return e4m3.codes(bits(weight.float() * e4m3.reciprocal(scale))), scale

    def dequantize(self, quantized: Quantized, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        """The values, [R, K]."""
        return (quantized.payload.float() * quantized.scale).to(dtype)

    def _blocked(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        fp8_blocked.fill_tensor(weight, payload, scale, scales=tensor_scale)

    def _triton(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        from fse_core.quantize import fp8_rows_triton

        fp8_rows_triton.fill_tensor(weight, payload, scale)


def tensor_scale(amax: torch.Tensor) -> torch.Tensor:
    """The scale of a tensor with this largest magnitude."""
    return torch.where(amax == 0, 1.0, e4m3.over_largest(amax, SMALLEST))


FORMAT = Fp8Tensor()
