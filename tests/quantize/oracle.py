"""The formats again, slowly and by other means: exact values in float64, and every code's distance to the number."""

import itertools

import torch

from tests.quantize.exhaustive import E2M1, e4m3_values


def nearest(values: torch.Tensor, codes: list[float]) -> torch.Tensor:
    """The nearest code of non-negative numbers; of two equally near, the even one; the last for what is larger."""
    middles = torch.tensor([(low + high) / 2 for low, high in itertools.pairwise(codes)], dtype=torch.float64)
    lower, upper = torch.bucketize(values, middles), torch.bucketize(values, middles, right=True)
    return torch.where(lower % 2 == 0, lower, upper)


def even_exponent(amax: torch.Tensor, step: float, emax: int) -> torch.Tensor:
    """floor(log2) of amax, one more from 2 - step/2 of its binade on: half a mantissa's last place below the next."""
    fraction, exponent = torch.frexp(amax)
    return exponent - 1 + (2 * fraction >= 2 - step / 2).int() - emax


def rceil_exponent(amax: torch.Tensor) -> torch.Tensor:
    """The least exponent at which amax / 2^exponent does not exceed 448."""
    fraction, exponent = torch.frexp(amax / 448)
    return torch.where(fraction == 0.5, exponent - 1, exponent)


def scaled_groups(weight: torch.Tensor, exponent: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Magnitudes over the scales, and the scales' bytes."""
    wide = weight.double().abs().view(*exponent.shape, 32)
    # Zeros have no exponent.
    byte = torch.where(wide.amax(-1) == 0, 0, (exponent + 127).clamp(0, 254))
    return wide * torch.pow(2.0, (127 - byte).double()).unsqueeze(-1), byte.to(torch.uint8)


def amax(weight: torch.Tensor) -> torch.Tensor:
    return weight.double().abs().view(len(weight), -1, 32).amax(-1)


def mxfp4(weight: torch.Tensor, *, positive: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    exponent = even_exponent(amax(weight), 0.5, 2)
    # amax from 1.75 * 2^127 on rounds to 2^128, whose exponent field is Inf's: then the largest scale.
    exponent = torch.where(exponent >= 126, 127, exponent)
    values, byte = scaled_groups(weight, exponent)
    code = nearest(values, list(E2M1)).view(weight.shape)
    negative = weight.signbit() & ((code > 0) | (not positive))
    nibble = code + 8 * negative
    return (nibble[:, ::2] + 16 * nibble[:, 1::2]).to(torch.uint8), byte


def mxfp8(weight: torch.Tensor, *, rule: str) -> tuple[torch.Tensor, torch.Tensor]:
    peak = amax(weight)
    values, byte = scaled_groups(weight, rceil_exponent(peak) if rule == "rceil" else even_exponent(peak, 0.125, 8))
    return _signed(nearest(values, e4m3_values()).view(weight.shape), weight), byte


def fp8(weight: torch.Tensor, scale: torch.Tensor, *, multiply: bool) -> torch.Tensor:
    """Codes of the float32 quotients by these scales, or of the products with their float32 reciprocals."""
    wide = weight.double().abs()
    exact = wide * (1 / scale.double()).float().double() if multiply else wide / scale.double()
    return _signed(nearest(exact.float().double(), e4m3_values()), weight)


def _signed(code: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return (code + 128 * weight.signbit()).to(torch.uint8)
