"""Rows a cacheful at a time: memory stays bounded, and the intermediate tensors stay in the processor's cache."""

from collections.abc import Iterator

import torch

# Elements. A 16-bit buffer of so many is 1 MB, shared out among the cores that torch uses; with smaller ones the cores
# would wait for each other more often, with larger ones they would wait for memory.
CPU_CHUNK = 1 << 19
# A GPU wants enough of them to be busy, and bounded temporaries all the same.
GPU_CHUNK = 1 << 26


def row_chunks(weight: torch.Tensor, block: int | None = 1) -> Iterator[slice]:
    """Slices of rows, each a whole number of blocks but the last; one slice where `block` is None."""
    rows, columns = weight.shape
    size = CPU_CHUNK if weight.device.type == "cpu" else GPU_CHUNK
    step = rows if block is None else min(rows, max(1, size // (max(columns, 1) * block)) * block)
    for start in range(0, rows, max(step, 1)):
        yield slice(start, min(start + step, rows))
