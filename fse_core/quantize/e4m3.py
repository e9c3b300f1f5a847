"""FP8 e4m3 (without Inf, largest 448): codes from float32 bits, and scales that round alike on all devices."""

import torch

from fse_core.quantize.rounding import INFINITY, encode, magnitude

LARGEST = 448.0
TOP = 0x7E
NAN = 0x7F
# float32's exponent field of the smallest normal e4m3 number, 2^-6; that less 127; and the exponent of 448.
LOWEST = 121
EMIN = -6
EMAX = 8
# The fraction of 448 = 2^8 * 1.75, as float32 bits.
FRACTION = 0x600000


def codes(raw: torch.Tensor, lowest: torch.Tensor | int = LOWEST) -> torch.Tensor:
    """The e4m3 code of float32 bits, as uint8: ties to even, 448 for what is larger or Inf, 0x7F for any NaN."""
    size = magnitude(raw)
    signed = encode(size, lowest, 3, TOP) | ((raw >> 24) & 0x80)
    return torch.where(size > INFINITY, NAN, signed).to(torch.uint8)


def over_largest(amax: torch.Tensor, smallest: float) -> torch.Tensor:
    """amax / 448 rounded once to float32, at least `smallest`; NaN where amax is Inf or NaN.

    The division is done in float64 and by a tensor: rounded from there, a float32 quotient is correctly rounded. In
    float32, GPU code generators replace it by a product with the reciprocal, or by an approximation.
    """
    wide = amax.double()
    quotient = (wide / torch.full_like(wide, LARGEST)).float().clamp(min=smallest)
    return torch.where(amax.isfinite(), quotient, torch.nan)


def reciprocal(scale: torch.Tensor) -> torch.Tensor:
    """1 / scale rounded once to float32, by way of float64 as above."""
    wide = scale.double()
    return (torch.ones_like(wide) / wide).float()


def divided(values: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """values / scale rounded once to float32, by way of float64 as above."""
    return (values.double() / scale.double()).float()
