"""MXFP4 of a bfloat16 weight by a Triton kernel, from and into tensors of any row strides."""

import torch
import triton
import triton.language as tl

from fse_core.quantize import words_triton
from fse_core.quantize.words_triton import encode, largest

# Groups a program has: fewer where there are few in all, so that every multiprocessor has some.
TILE, WARPS, FEW = 128, 4, 1 << 17

# $1: two bfloat16; $2: the factor, twice; $0: their codes in one byte. `_native` says how.
# At SIGN: c has the codes, s the signs.
_ASM = """{
    .reg .b32 six, one, q, e, m, r, c, s, t;
    mov.b32 six, 0x40C040C0;
    mov.b32 one, 0x3F803F80;
    and.b32 q, $1, 0x7FFF7FFF;
    mul.rn.bf16x2 q, q, $2;
    min.u16x2 q, q, six;
    and.b32 e, q, 0x7F807F80;
    max.u16x2 e, e, one;
    add.u32 m, e, 0x03000300;
    add.rn.bf16x2 r, q, m;
    shr.u32 e, e, 6;
    sub.u32 c, r, m;
    add.u32 c, c, e;
    sub.u32 c, c, 0x00FE00FE;
    shr.u32 s, $1, 12;
    and.b32 s, s, 0x00080008;
    SIGN
    or.b32 c, c, s;
    shr.u32 t, c, 12;
    or.b32 $0, c, t;
}"""
SIGNED = tl.constexpr(_ASM.replace("SIGN", ""))
# Bit 3 of code + 7 is set for every code but 0.
CLEARED = tl.constexpr(_ASM.replace("SIGN", "add.u32 t, c, 0x00070007; and.b32 s, s, t;"))


def fill(weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor, *, positive: bool) -> None:
    """Write the bytes of `mxfp4.Mxfp4`; `positive` asks for +0 where an element rounds to zero."""

    def launch(words: torch.Tensor, target: torch.Tensor) -> None:
        rows, groups = scale.shape
        if words_triton.flat(words, target, scale):
            rows, groups = 1, rows * groups
        high, wide = words_triton.tile(rows, groups, TILE if rows * groups > FEW else TILE // 2)
        grid = (triton.cdiv(rows, high) * triton.cdiv(groups, wide),)
        strides = (words.stride(0), target.stride(0), *scale.stride())
        native = words_triton.native(weight.device)
        _kernel[grid](
            words, target, scale, rows, groups, *strides, positive, native, high, wide, num_warps=WARPS
        )  # fmt: skip

    words_triton.run(weight, payload, torch.uint8, launch)


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
    POSITIVE: tl.constexpr,
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

    exponent = (largest(word, 1) + 0x20) >> 7
    byte = tl.where(exponent >= 255, 254, tl.maximum(exponent - 2, 0))
    tl.store(scale + row * scale_row + group * scale_column, byte.to(tl.uint8), mask=inside)
    if NATIVE:
        pair = _native(word, byte[:, None], POSITIVE)
    else:
        pair = _nibble(word << 16, byte[:, None], POSITIVE) | (_nibble(word, byte[:, None], POSITIVE) << 4)
    tl.store(payload + (row * payload_stride)[:, None] + column, pair.to(tl.uint8), mask=inside[:, None])


@triton.jit
def _nibble(raw, byte, POSITIVE: tl.constexpr):
    """The code and sign of the bfloat16 in the high half."""
    code = encode(raw & 0x7FFF0000, byte, 1, 7)
    sign = (raw >> 28) & 8
    if POSITIVE:
        sign &= code + 7
    return code | sign


@triton.jit
def _native(word, byte, POSITIVE: tl.constexpr):
    """Both halves at once, in bfloat16: the product with a power of two is exact, the sum rounds half to even.

    The addend is 64 times the element's binade (at least 64), whose last bit then is the step between codes there.
    Elements are cut to 6 before, by integer order, so that Inf and NaN are too.
    """
    factor = tl.where(byte == 254, 0x0040, (254 - byte) << 7)
    factor |= factor << 16
    if POSITIVE:
        pair = tl.inline_asm_elementwise(CLEARED, "=r,r,r", [word, factor], dtype=tl.int32, is_pure=True, pack=1)
    else:
        pair = tl.inline_asm_elementwise(SIGNED, "=r,r,r", [word, factor], dtype=tl.int32, is_pure=True, pack=1)
    return pair
