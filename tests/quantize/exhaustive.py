"""Every finite bfloat16 that can be the largest of a group, each with every tie, neighbours, zeros and subnormals."""

import functools
import itertools

import torch

FINITE = 0x7F80
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def e4m3_values() -> list[float]:
    """The 127 values that are not negative, by their definition."""
    subnormal = [m * 2.0**-9 for m in range(8)]
    normal = [(1 + m / 8) * 2.0 ** (e - 7) for e in range(1, 16) for m in range(8)]
    return (subnormal + normal)[:127]


def midpoints(values: tuple[float, ...] | list[float]) -> list[float]:
    return [(low + high) / 2 for low, high in itertools.pairwise(values)]


def from_bits(bits: torch.Tensor) -> torch.Tensor:
    return bits.to(torch.int16).view(torch.bfloat16)


def mx_blocks(values: tuple[float, ...] | list[float], emax: int, ties: int | None = None) -> torch.Tensor:
    """One row an amax, 0 included: groups of 32 whose first element is that amax.

    The others are the midpoints times each scale that a rule may choose for it, both signs, one step of bfloat16 to
    either side of each, both zeros, and the smallest subnormals. With `ties`, only so many of the midpoints, in each
    row other ones.
    """
    amax = torch.arange(FINITE)
    peak = from_bits(amax).double()
    exponent = torch.frexp(peak).exponent - 1 - emax
    tie = torch.tensor(midpoints(values), dtype=torch.float64)
    if ties is not None:
        tie = tie[(amax.unsqueeze(1) + torch.arange(ties)) % len(tie)].unsqueeze(1)
    scale = torch.ldexp(torch.ones(FINITE, dtype=torch.float64), exponent.clamp(-127, 127))
    scaled = (torch.stack((scale, 2 * scale), dim=1).unsqueeze(-1) * tie).flatten(1)
    raw = scaled.clamp(max=from_bits(torch.tensor(FINITE - 1)).item()).bfloat16().view(torch.int16).int()
    near = torch.cat(
        (raw, raw + 1, (raw - 1).clamp(min=0), torch.ones_like(raw[:, :1]), torch.zeros_like(raw[:, :1])), 1
    )
    near = torch.minimum(near, amax.unsqueeze(1))
    return _groups(amax, torch.cat((near, near | 0x8000), 1), 32)


def _groups(amax: torch.Tensor, others: torch.Tensor, group: int) -> torch.Tensor:
    """The amax, then as many others as fit, over and over; its sign alternates."""
    rows = len(amax)
    short = -others.shape[1] % (group - 1)
    padded = torch.cat((others, torch.zeros(rows, short, dtype=others.dtype)), 1).view(rows, -1, group - 1)
    first = amax.view(-1, 1, 1).expand(rows, padded.shape[1], 1).to(padded.dtype).clone()
    first[:, 1::2] |= 0x8000
    return from_bits(torch.cat((first, padded), 2).reshape(rows, -1))


@functools.cache
def scaled_rows(columns: int) -> torch.Tensor:
    """One row an amax for formats with a float scale: that amax, midpoints times about amax / 448, random numbers."""
    amax = torch.arange(FINITE)
    peak = from_bits(amax).double().unsqueeze(1)
    tie = torch.tensor(midpoints(e4m3_values()), dtype=torch.float64)
    chosen = torch.arange(columns // 2).add(torch.arange(FINITE).unsqueeze(1)) % len(tie)
    near = (tie[chosen] * (peak / 448)).bfloat16().view(torch.int16).int()
    generator = torch.Generator().manual_seed(0)
    anything = torch.randint(0, 0x8000, (FINITE, columns - near.shape[1] - 1), generator=generator, dtype=torch.int32)
    below = torch.minimum(torch.cat((near, anything), 1), amax.unsqueeze(1))
    signs = torch.randint(0, 2, below.shape, generator=generator, dtype=torch.int32) << 15
    return from_bits(torch.cat((amax.unsqueeze(1).int(), below | signs), 1))


def every_element() -> torch.Tensor:
    """One row an amax, of every fraction and four exponents; in it every number up to that, in turns of either sign."""
    peaks = torch.cat([(exponent << 7) + torch.arange(128) for exponent in (100, 118, 126, 254)]).unsqueeze(1)
    size = torch.minimum(torch.arange(FINITE).unsqueeze(0), peaks)
    return from_bits(size | (torch.arange(FINITE) % 2 << 15))


@functools.cache
def e2m1_blocks() -> torch.Tensor:
    return mx_blocks(E2M1, 2)


@functools.cache
def e4m3_blocks() -> torch.Tensor:
    """Seven ties a row: all with every amax are too many for a CPU. benchmarks/gpu_exact.py takes them on a GPU."""
    return mx_blocks(e4m3_values(), 8, ties=7)
