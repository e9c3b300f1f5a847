"""Rounding to a small float by integer arithmetic on float32 bits: the same on every device, compiled or not."""

import torch

INFINITY = 0x7F800000


def bits(weight: torch.Tensor) -> torch.Tensor:
    """The float32 bits of each element, as int32. Widening is exact, so none of the input's dtypes loses anything."""
    return weight.to(torch.float32).view(torch.int32)


def magnitude(raw: torch.Tensor) -> torch.Tensor:
    """Those bits without their sign. As integers they are in the order of the values; Inf and NaN are the largest."""
    return raw & 0x7FFFFFFF


def encode(size: torch.Tensor, lowest: torch.Tensor | int, mantissa: int, top: int) -> torch.Tensor:
    """Code of a magnitude (float32 bits): nearest, ties to even, saturating at code `top`.

    The small float has `mantissa` bits after its point. `lowest` is the float32 exponent field, in the weight's own
    units, of its smallest normal number: so a scale 2^k is applied by moving `lowest`, with no product to round.
    Below it the codes are evenly spaced, as subnormals are. Inf and NaN give `top`.
    """
    # A subnormal is brought into normal form: as an integer it counts units of 2^-149, and converting that is exact.
    small = size < 0x800000
    normal = torch.where(small, size.float().view(torch.int32), size)
    exponent = (normal >> 23) - torch.where(small, 149, 0)
    significand = (normal & 0x7FFFFF) | ((size > 0).to(torch.int32) << 23)
    below = lowest - exponent
    # 30: by then less than a quarter of the smallest code is left, whatever the significand.
    shift = (below.clamp(min=0) + (23 - mantissa)).clamp(max=30)
    half = (1 << (shift - 1)) - 1 + ((significand >> shift) & 1)
    code = ((significand + half) >> shift) + ((-below).clamp(min=0) << mantissa)
    return torch.where(size >= INFINITY, top, code.clamp(max=top))


def decoded(mantissa: int, exponent: int, bias: int) -> torch.Tensor:
    """The value of every non-negative code of such a float, in order, as float32; no code is taken for Inf or NaN."""
    codes = torch.arange(1 << (mantissa + exponent), dtype=torch.int32)
    field = codes >> mantissa
    significand = (codes & ((1 << mantissa) - 1)) | ((field > 0).to(torch.int32) << mantissa)
    return torch.ldexp(significand.float(), field.clamp(min=1) - bias - mantissa)
