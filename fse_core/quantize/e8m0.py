"""Power-of-two scales of a group of 32, one byte each: byte b stands for 2^(b - 127)."""

import torch

from fse_core.quantize.rounding import INFINITY

GROUP = 32
# What a group with Inf or NaN gets: the largest scale, so that its values read back as Inf or very large.
LARGEST = 254


def even(amax: torch.Tensor, mantissa: int, emax: int) -> torch.Tensor:
    """The exponent of amax, first rounded half up to `mantissa` bits; less emax, the element's largest exponent."""
    return ((amax + (1 << (22 - mantissa))) >> 23) - emax


def rceil(amax: torch.Tensor, fraction: int, emax: int) -> torch.Tensor:
    """The least exponent at which amax does not exceed the element's largest value, 2^emax * 1.fraction."""
    return (amax >> 23) - emax + ((amax & 0x7FFFFF) > fraction).to(torch.int32)


def bounded(exponent: torch.Tensor, amax: torch.Tensor) -> torch.Tensor:
    """The scale's byte. A group of zeros, or of values too small for a scale, gets 0; one with Inf or NaN gets 254."""
    return torch.where(amax >= INFINITY, LARGEST, exponent.clamp(0, LARGEST))


def powers(scale: torch.Tensor) -> torch.Tensor:
    """The float32 that each byte stands for; 255 is NaN."""
    wide = scale.to(torch.int32)
    raw = torch.where(wide == 0, 0x00400000, wide << 23)
    return torch.where(wide == 255, 0x7FC00000, raw).view(torch.float32)


def inverse_powers(scale: torch.Tensor) -> torch.Tensor:
    """One over what each byte stands for, exact; byte 254's is subnormal in float32, and 255 has none."""
    wide = 254 - scale.to(torch.int32)
    return torch.where(wide == 0, 0x00400000, wide << 23).view(torch.float32)
