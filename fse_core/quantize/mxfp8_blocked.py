"""MXFP8 of a bfloat16 weight on a CPU, a cacheful of rows at a time, without a compiler."""

from collections.abc import Callable

import torch

from fse_core.quantize.chunks import row_chunks
from fse_core.quantize.e4m3 import LARGEST
from fse_core.quantize.e8m0 import GROUP, inverse_powers

Reference = Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]

# Group maxima (bfloat16 bits) below 2^-110 are left to the reference: a processor told to flush subnormals would lose
# some.
SMALLEST, INFINITY = 0x0880, 0x7F80


def fill(
    weight: torch.Tensor,
    payload: torch.Tensor,
    scale: torch.Tensor,
    *,
    reference: Reference,
    scales: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    """Write the bytes that `reference` gives; it is asked itself about rows with tiny numbers, Inf or NaN."""
    raw, sizes, wides = weight.view(torch.int16), None, None
    for rows in row_chunks(weight):
        if sizes is None or wides is None:
            sizes, wides = torch.empty(raw[rows].shape, dtype=torch.int16), torch.empty(raw[rows].shape)
        size, wide = sizes[: rows.stop - rows.start], wides[: rows.stop - rows.start]
        amax = torch.bitwise_and(raw[rows], 0x7FFF, out=size).view(len(size), -1, GROUP).amax(-1)
        if _ordinary(amax):
            bytes_ = scales(amax.int() << 16)
            scale[rows].copy_(bytes_)
            # A product with a power of two is exact, or so small that its code is zero.
            wide.copy_(weight[rows]).view(len(wide), -1, GROUP).mul_(inverse_powers(bytes_).unsqueeze(-1))
            # Not every release's conversion saturates.
            payload[rows].copy_(wide.clamp_(-LARGEST, LARGEST))
        else:
            codes, chunk_scale = reference(weight[rows])
            payload[rows].copy_(codes.view(payload.dtype))
            scale[rows].copy_(chunk_scale)


def _ordinary(amax: torch.Tensor) -> bool:
    return bool(((amax == 0) | ((amax >= SMALLEST) & (amax < INFINITY))).all())
