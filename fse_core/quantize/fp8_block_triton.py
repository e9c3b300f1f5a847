"""FP8 in 128 x 128 blocks of a bfloat16 weight by a Triton kernel, a program each, from and into any row strides."""

import torch
import triton
import triton.language as tl

from fse_core.quantize import words_triton
from fse_core.quantize.words_triton import e4m3_scaled, over_448

WARPS = 16


def fill(weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
    """Write the bytes of `fp8_block.Fp8Block`, of a weight with an even number of columns."""
    rows, columns = weight.shape

    def launch(words: torch.Tensor, target: torch.Tensor) -> None:
        grid = (scale.numel(),)
        strides = (words.stride(0), target.stride(0), *scale.stride())
        native = words_triton.native(weight.device)
        whole = rows % 128 == 0 and columns % 128 == 0
        _kernel[grid](words, target, scale, rows, columns // 2, *strides, native, whole, num_warps=WARPS)

    words_triton.run(weight, payload, torch.int16, launch)


@triton.jit
def _kernel(
    words,
    payload,
    scale,
    rows,
    columns,
    word_stride,
    payload_stride,
    scale_row,
    scale_column,
    NATIVE: tl.constexpr,
    WHOLE: tl.constexpr,
):
    across = tl.cdiv(columns, 64)
    down = tl.program_id(0) // across
    right = tl.program_id(0) % across
    row = (down * 128 + tl.arange(0, 128)).to(tl.int64)[:, None]
    column = (right * 64 + tl.arange(0, 64))[None, :]
    inside = WHOLE | ((row < rows) & (column < columns))
    word = tl.load(words + row * word_stride + column, mask=inside, other=0)

    # Element by element, so that there is one reduction, of all at once.
    peaks = tl.maximum(word & 0x7FFF, (word >> 16) & 0x7FFF)
    factor = over_448(tl.max(tl.ravel(peaks, can_reorder=True), axis=0), 1e-4)
    tl.store(scale + down * scale_row + right * scale_column, factor)
    codes = e4m3_scaled(word, tl.div_rn(1.0, factor), NATIVE)
    tl.store(payload + row * payload_stride + column, codes, mask=inside)
