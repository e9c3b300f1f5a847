"""FP8 e4m3 with a float32 scale for each 128 x 128 block, as DeepSeek's checkpoints have it."""

import dataclasses
from typing import ClassVar

import torch

from fse_core.quantize import e4m3, fp8_blocked
from fse_core.quantize.base import Format, Quantized, Storage
from fse_core.quantize.rounding import bits, magnitude

BLOCK = 128
# No block's largest magnitude counts as smaller: utils/deep_gemm.py, per_block_cast_to_fp8, at 0.33.0.
SMALLEST = 1e-4


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fp8Block(Format):
    """Scale amax / 448, amax at least 1e-4; elements are multiplied by the reciprocal, both rounded once to float32.

    Nearest with ties to even, saturating at 448. The last block of a row or column may be narrower; nothing is padded.
    Zeros: scale 1e-4 / 448, signs kept. Inf or NaN in a block: its scale is NaN and all its codes 0x7F.
    """

    name: ClassVar[str] = "fp8_block"
    row_block: ClassVar[int | None] = BLOCK

    def storage(self, rows: int, columns: int) -> Storage:
        """e4m3fn on every platform: what needs another variant converts it after loading."""
        return Storage(
            payload_shape=(rows, columns),
            payload_dtype=torch.float8_e4m3fn,
            scale_shape=(-(-rows // BLOCK), -(-columns // BLOCK)),
            scale_dtype=torch.float32,
            scale_suffix="weight_scale_inv",
            row_alignment=BLOCK,
            column_alignment=BLOCK,
        )

    def reference(self, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Payload [R, K] as uint8 and scale [R/128, K/128] as float32, both rounded up."""
        rows, columns = weight.shape
        padded = torch.nn.functional.pad(weight.float(), (0, -columns % BLOCK)).view(rows, -1, BLOCK)
        across = magnitude(bits(padded)).amax(-1)
        blocks = torch.nn.functional.pad(across, (0, 0, 0, -rows % BLOCK)).view(-1, BLOCK, across.shape[1])
        scale = block_scale(blocks.amax(1).view(torch.float32))
        factors = e4m3.reciprocal(scale).repeat_interleave(BLOCK, dim=0)[:rows]
        codes = e4m3.codes(bits(padded * factors.unsqueeze(-1)))
        return codes.view(rows, -1)[:, :columns], scale

    def dequantize(self, quantized: Quantized, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        """The values, [R, K]."""
        rows, columns = quantized.payload.shape
        across = quantized.scale.repeat_interleave(BLOCK, dim=1)[:, :columns]
        return (quantized.payload.float() * across.repeat_interleave(BLOCK, dim=0)[:rows]).to(dtype)

    def _blocked(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        fp8_blocked.fill_blocks(weight, payload, scale, scales=block_scale, block=BLOCK)

    def _triton(self, weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
        from fse_core.quantize import fp8_block_triton

        fp8_block_triton.fill(weight, payload, scale)


def block_scale(amax: torch.Tensor) -> torch.Tensor:
    """The scales of blocks with these largest magnitudes."""
    return e4m3.over_largest(amax.clamp(min=SMALLEST), 0.0)


FORMAT = Fp8Block()
