"""FP8 with float32 scales on a CPU, a cacheful of rows at a time, without a compiler, from any of the dtypes."""

from collections.abc import Callable

import torch

from fse_core.quantize.chunks import row_chunks
from fse_core.quantize.e4m3 import LARGEST, NAN, reciprocal

Scales = Callable[[torch.Tensor], torch.Tensor]


def fill_blocks(
    weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor, *, scales: Scales, block: int
) -> None:
    """Write a payload and a scale for each `block` x `block` square; the last ones may be smaller."""
    columns = weight.shape[1]
    for rows in row_chunks(weight, block):
        for start in range(rows.start, rows.stop, block):
            strip = slice(start, min(start + block, rows.stop))
            wide = weight[strip].float()
            peaks = torch.zeros(-(-columns // block) * block)
            torch.maximum(wide.amax(0), wide.amin(0).neg_(), out=peaks[:columns])
            row = scales(peaks.view(-1, block).amax(-1))
            scale[start // block].copy_(row)
            factors = reciprocal(row).repeat_interleave(block)[:columns]
            _write(torch.mul(wide, factors, out=_own(wide, weight)), payload[strip], row)


def fill_rows(weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor, *, scales: Scales) -> None:
    """Write a payload and a scale for each row, the elements divided by it."""
    for rows in row_chunks(weight):
        wide = weight[rows].float()
        row = scales(_peaks(wide, dim=1))
        scale[rows].copy_(row)
        _write(torch.div(wide, row.unsqueeze(-1), out=_own(wide, weight)), payload[rows], row)


def fill_tensor(weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor, *, scales: Scales) -> None:
    """Write a payload, and one scale."""
    peaks = [_peaks(weight[rows].float(), dim=1).amax() for rows in row_chunks(weight)]
    scale.copy_(scales(torch.stack(peaks).amax().view(1)))
    factor = reciprocal(scale)
    for rows in row_chunks(weight):
        wide = weight[rows].float()
        _write(torch.mul(wide, factor, out=_own(wide, weight)), payload[rows], scale)


def _peaks(wide: torch.Tensor, dim: int) -> torch.Tensor:
    """Largest magnitudes, without a temporary of their own size; NaN where there is one."""
    return torch.maximum(wide.amax(dim), wide.amin(dim).neg_())


def _own(wide: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """A place for the result: `wide` itself, unless that is the caller's own weight."""
    return torch.empty_like(wide) if weight.dtype == torch.float32 else wide


def _write(scaled: torch.Tensor, payload: torch.Tensor, row: torch.Tensor) -> None:
    payload.copy_(scaled.clamp_(-LARGEST, LARGEST))
    if not bool(row.isfinite().all()):
        # The conversion would keep a NaN's sign, and the sign of a made NaN differs between processors.
        payload.view(torch.uint8).masked_fill_(scaled.isnan(), NAN)
