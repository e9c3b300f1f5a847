"""FP8 with a scale a row or a tensor, of a bfloat16 weight with an even number of columns, by Triton kernels."""

import torch
import triton
import triton.language as tl

from fse_core.quantize import words_triton
from fse_core.quantize.words_triton import e4m3_quotients, e4m3_scaled, largest, over_448

# Words a program has at a time, and words to a warp. A row of up to the most is read once, a longer one twice.
ROW_TILE, ROW_WORDS, ROW_MOST = 1024, 256, 4096
TENSOR_TILE, TENSOR_WARPS = 4096, 8


def fill_rows(weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
    """Write the bytes of `fp8_channel.Fp8Channel`: a program has whole rows, many where they are short."""

    def launch(words: torch.Tensor, target: torch.Tensor) -> None:
        rows, columns = words.shape
        wide = min(triton.next_power_of_2(columns), ROW_MOST)
        high, _ = words_triton.tile(rows, wide, max(ROW_TILE, wide))
        # Triton 3.6's interpreter cannot loop to a number that it was given, with NumPy from 2.4 on: to a constant.
        end = triton.cdiv(columns, wide) * wide
        strides = (words.stride(0), target.stride(0), scale.stride(0))
        native = words_triton.native(weight.device)
        warps = max(4, min(high * wide, ROW_MOST) // ROW_WORDS)
        grid = (triton.cdiv(rows, high),)
        _rows[grid](words, target, scale, rows, columns, *strides, native, end, high, wide, num_warps=warps)

    words_triton.run(weight, payload, torch.int16, launch)


def fill_tensor(weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> None:
    """Write the bytes of `fp8_tensor.Fp8Tensor`: one kernel finds the largest magnitude, one writes."""
    peak = torch.zeros(1, dtype=torch.int32, device=weight.device)

    def launch(words: torch.Tensor, target: torch.Tensor) -> None:
        rows, columns = words.shape
        if words_triton.flat(words, target):
            rows, columns = 1, rows * columns
        high, wide = words_triton.tile(rows, columns, TENSOR_TILE)
        grid = (triton.cdiv(rows, high) * triton.cdiv(columns, wide),)
        native = words_triton.native(weight.device)
        _peak[grid](words, peak, rows, columns, words.stride(0), high, wide, num_warps=TENSOR_WARPS)
        strides = (words.stride(0), target.stride(0))
        _codes[grid](
            words, target, scale, peak, rows, columns, *strides, native, high, wide, num_warps=TENSOR_WARPS
        )  # fmt: skip

    words_triton.run(weight, payload, torch.int16, launch)


@triton.jit
def _rows(
    words,
    payload,
    scale,
    rows,
    columns,
    word_stride,
    payload_stride,
    scale_stride,
    NATIVE: tl.constexpr,
    END: tl.constexpr,
    HIGH: tl.constexpr,
    WIDE: tl.constexpr,
):
    row = (tl.program_id(0) * HIGH + tl.arange(0, HIGH)).to(tl.int64)
    across = tl.arange(0, WIDE)[None, :]
    source, target = words + (row * word_stride)[:, None], payload + (row * payload_stride)[:, None]
    inside = (row < rows)[:, None]
    word = tl.load(source + across, mask=inside & (across < columns), other=0)
    # Element by element, so that there is one reduction at the end.
    peaks = tl.maximum(word & 0x7FFF, (word >> 16) & 0x7FFF)
    for start in range(WIDE, END, WIDE):
        more = tl.load(source + start + across, mask=inside & (start + across < columns), other=0)
        peaks = tl.maximum(peaks, tl.maximum(more & 0x7FFF, (more >> 16) & 0x7FFF))
    # The floor is 1 / (448 * 512), a row's smallest scale, times 448.
    factor = over_448(tl.max(peaks, axis=1), 1.0 / 512)
    tl.store(scale + row * scale_stride, factor, mask=row < rows)
    divisor = factor[:, None]
    tl.store(target + across, e4m3_quotients(word, divisor, NATIVE), mask=inside & (across < columns))
    for start in range(WIDE, END, WIDE):
        mask = inside & (start + across < columns)
        more = tl.load(source + start + across, mask=mask, other=0)
        tl.store(target + start + across, e4m3_quotients(more, divisor, NATIVE), mask=mask)


@triton.jit
def _peak(words, peak, rows, columns, stride, HIGH: tl.constexpr, WIDE: tl.constexpr):
    across = tl.cdiv(columns, WIDE)
    row = (tl.program_id(0) // across * HIGH + tl.arange(0, HIGH)).to(tl.int64)[:, None]
    column = (tl.program_id(0) % across * WIDE + tl.arange(0, WIDE))[None, :]
    word = tl.load(words + row * stride + column, mask=(row < rows) & (column < columns), other=0)
    tl.atomic_max(peak, tl.max(largest(word, 1), axis=0))


@triton.jit
def _codes(
    words,
    payload,
    scale,
    peak,
    rows,
    columns,
    word_stride,
    payload_stride,
    NATIVE: tl.constexpr,
    HIGH: tl.constexpr,
    WIDE: tl.constexpr,
):
    across = tl.cdiv(columns, WIDE)
    row = (tl.program_id(0) // across * HIGH + tl.arange(0, HIGH)).to(tl.int64)[:, None]
    column = (tl.program_id(0) % across * WIDE + tl.arange(0, WIDE))[None, :]
    inside = (row < rows) & (column < columns)
    word = tl.load(words + row * word_stride + column, mask=inside, other=0)
    amax = tl.load(peak)
    # 448 * 2^-126: the scale is not smaller than 2^-126.
    factor = tl.where(amax == 0, 1.0, over_448(amax, 448.0 * 2.0**-126))
    tl.store(scale, factor, mask=tl.program_id(0) == 0)
    codes = e4m3_scaled(word, tl.div_rn(1.0, factor), NATIVE)
    tl.store(payload + row * payload_stride + column, codes, mask=inside)
