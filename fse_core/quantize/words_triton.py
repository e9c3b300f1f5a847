"""What the Triton kernels share: bfloat16 pairs read as 32-bit words, and rounding to a small float.

A word holds an even column in its low half and the next in its high half. Reading words keeps packing within a thread,
and keeps to integers, on which Triton's interpreter and every GPU agree. NVIDIA GPUs from compute capability 9.0 have
instructions for two bfloat16 at once and for the conversion to e4m3: kernels take them where `NATIVE` says so. Nothing
here has run on an AMD GPU; there the plain integer path is compiled.
"""

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from fse_core.quantize.layout import packed_view

INTERPRETED = triton.knobs.runtime.interpret


def native(device: torch.device) -> bool:
    """Whether kernels on this device may use the instructions of compute capability 9.0."""
    if INTERPRETED or device.type != "cuda" or torch.version.hip is not None:
        return False
    return torch.cuda.get_device_capability(device) >= (9, 0)


def run(
    weight: torch.Tensor, payload: torch.Tensor, dtype: torch.dtype, launch: Callable[[torch.Tensor, torch.Tensor], Any]
) -> None:
    """Call `launch` with the weight as words and the payload as `dtype`, through a copy where one cannot be seen so."""
    words = seen(weight)
    target = packed_view(payload, dtype)
    if target is not None:
        launch(words, target)
        return
    temporary = torch.empty(payload.shape, dtype=payload.dtype, device=payload.device)
    launch(words, temporary.view(dtype))
    payload.copy_(temporary)


def tile(rows: int, groups: int, size: int) -> tuple[int, int]:
    """Rows and groups that a program takes, powers of two: about `size` groups, all of one row where it has so many."""
    # The interpreter's time goes by the number of programs.
    most = max(size, 1 << 15) if INTERPRETED else size
    wide = min(triton.next_power_of_2(groups), most)
    return min(triton.next_power_of_2(rows), most // wide), wide


def seen(weight: torch.Tensor) -> torch.Tensor:
    """The weight as words, copied first where its layout does not allow it. Its number of columns is even."""
    words = packed_view(weight, torch.int32)
    return weight.clone(memory_format=torch.contiguous_format).view(torch.int32) if words is None else words


def flat(*tensors: torch.Tensor) -> bool:
    """Whether all can be taken for one long row, which 32-bit indices can reach."""
    return all(tensor.is_contiguous() and tensor.numel() < 1 << 30 for tensor in tensors)


@triton.jit
def largest(words, axis: tl.constexpr):
    """The largest magnitude along an axis, as bfloat16 bits: high halves decide a word's order, low ones come alone."""
    high = tl.max(words & 0x7FFF7FFF, axis=axis) >> 16
    return tl.maximum(high, tl.max(words & 0x7FFF, axis=axis))


@triton.jit
def encode(size, lowest, MANTISSA: tl.constexpr, TOP: tl.constexpr):
    """As `rounding.encode`."""
    small = size < 0x800000
    normal = tl.where(small, size.to(tl.float32).to(tl.int32, bitcast=True), size)
    exponent = (normal >> 23) - tl.where(small, 149, 0)
    significand = (normal & 0x7FFFFF) | ((size > 0).to(tl.int32) << 23)
    below = lowest - exponent
    shift = tl.minimum(tl.maximum(below, 0) + (23 - MANTISSA), 30)
    half = (1 << (shift - 1)) - 1 + ((significand >> shift) & 1)
    code = ((significand + half) >> shift) + (tl.maximum(-below, 0) << MANTISSA)
    return tl.where(size >= 0x7F800000, TOP, tl.minimum(code, TOP))


@triton.jit
def e4m3(raw, lowest):
    """The e4m3 code of float32 bits, as `e4m3.codes`."""
    size = raw & 0x7FFFFFFF
    code = encode(size, lowest, 3, 0x7E) | ((raw >> 24) & 0x80)
    return tl.where(size > 0x7F800000, 0x7F, code)


@triton.jit
def e4m3_pair(low, high, NATIVE: tl.constexpr):
    """The e4m3 codes of two float32, in the low and the high half of 16 bits."""
    if NATIVE:
        codes = tl.inline_asm_elementwise(
            "{ .reg .b16 pair; cvt.rn.satfinite.e4m3x2.f32 pair, $2, $1; cvt.u32.u16 $0, pair; }",
            "=r,f,f",
            [low, high],
            dtype=tl.int32,
            is_pure=True,
            pack=1,
        )
    else:
        codes = e4m3(low.to(tl.int32, bitcast=True), 121) | (e4m3(high.to(tl.int32, bitcast=True), 121) << 8)
    return codes.to(tl.int16)


@triton.jit
def halves(words):
    """Both bfloat16 of each word as float32."""
    return (words << 16).to(tl.float32, bitcast=True), (words & -65536).to(tl.float32, bitcast=True)


@triton.jit
def e4m3_scaled(words, factor, NATIVE: tl.constexpr):
    """Both halves times a float32 factor, each product rounded to float32 and then to e4m3: two codes in 16 bits."""
    low, high = halves(words)
    return e4m3_pair(low * factor, high * factor, NATIVE)


@triton.jit
def e4m3_quotients(words, divisor, NATIVE: tl.constexpr):
    """Both halves over a float32 divisor of at least 1 / (448 * 512), each rounded to float32 and then to e4m3."""
    low, high = halves(words)
    if NATIVE:
        inverse = tl.div_rn(1.0, divisor)
        low, high = quotient(low, divisor, inverse), quotient(high, divisor, inverse)
    else:
        low, high = tl.div_rn(low, divisor), tl.div_rn(high, divisor)
    return e4m3_pair(low, high, NATIVE)


@triton.jit
def quotient(values, divisor, inverse):
    """values / divisor rounded once, without a division each: the product with the reciprocal, corrected.

    One correction is enough for bfloat16 over a 448th of one: benchmarks/gpu_exact.py asks for every pair of
    fractions. Where a remainder is too small for float32 the last place may be wrong; its code is zero either way.
    """
    first = values * inverse
    second = tl.fma(tl.fma(-first, divisor, values), inverse, first)
    # A sum would turn -0 into 0.
    return tl.where(first == 0, first, second)


@triton.jit
def over_448(amax_bits, floor):
    """The float32 quotient by 448 of bfloat16 bits, or of `floor` where that is larger; NaN for Inf and NaN."""
    amax = (amax_bits << 16).to(tl.float32, bitcast=True)
    quotient = tl.div_rn(tl.maximum(amax, floor), 448.0)
    return tl.where(amax_bits >= 0x7F80, float("nan"), quotient)
