"""MXFP8 of a bfloat16 weight by a Triton kernel, from and into tensors of any row strides."""

import torch
import triton
import triton.language as tl

from fse_core.quantize import words_triton
from fse_core.quantize.words_triton import e4m3, e4m3_scaled, largest

TILE, WARPS = 64, 4


def fill(weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor, *, even: bool) -> None:
    """Write the bytes of `mxfp8.Mxfp8`, by the scale rule `even` or else `rceil`."""

    def launch(words: torch.Tensor, target: torch.Tensor) -> None:
        rows, groups = scale.shape
        if words_triton.flat(words, target, scale):
            rows, groups = 1, rows * groups
        high, wide = words_triton.tile(rows, groups, TILE)
        grid = (triton.cdiv(rows, high) * triton.cdiv(groups, wide),)
        strides = (words.stride(0), target.stride(0), *scale.stride())
        native = words_triton.native(weight.device)
        _kernel[grid](
            words, target, scale, rows, groups, *strides, even, native, high, wide, num_warps=WARPS
        )  # fmt: skip

    words_triton.run(weight, payload, torch.int16, launch)


@triton.jit
def _kernel(
    words,
    payload,
    scale,
    rows,
    groups,
    word_stride,
    payload_stride,
    scale_row,
    scale_column,
    EVEN: tl.constexpr,
    NATIVE: tl.constexpr,
    HIGH: tl.constexpr,
    WIDE: tl.constexpr,
):
    across = tl.cdiv(groups, WIDE)
    tile = tl.arange(0, HIGH * WIDE)
    row = (tl.program_id(0) // across * HIGH + tile // WIDE).to(tl.int64)
    group = tl.program_id(0) % across * WIDE + tile % WIDE
    inside = (row < rows) & (group < groups)
    column = (group * 16)[:, None] + tl.arange(0, 16)[None, :]
    word = tl.load(words + (row * word_stride)[:, None] + column, mask=inside[:, None], other=0)

    amax = largest(word, 1)
    if EVEN:
        exponent = ((amax + 8) >> 7) - 8
    else:
        exponent = (amax >> 7) - 8 + ((amax & 0x7F) > 0x60).to(tl.int32)
    byte = tl.where(amax >= 0x7F80, 254, tl.maximum(exponent, 0))
    tl.store(scale + row * scale_row + group * scale_column, byte.to(tl.uint8), mask=inside)
    if NATIVE:
        bits = tl.where(byte == 254, 0x00400000, (254 - byte) << 23)
        codes = e4m3_scaled(word, bits.to(tl.float32, bitcast=True)[:, None], True)
    else:
        # No multiplication, which a GPU may do without subnormals.
        low, high = e4m3(word << 16, byte[:, None] - 6), e4m3(word & -65536, byte[:, None] - 6)
        codes = (low | (high << 8)).to(tl.int16)
    tl.store(payload + (row * payload_stride)[:, None] + column, codes, mask=inside[:, None])
