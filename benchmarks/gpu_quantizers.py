"""How fast a GPU quantizes, against a kernel that moves the same bytes and computes nothing.

    python -m benchmarks.gpu_quantizers [--json FILE]

Medians of CUDA events, the L2 cache flushed before each call, the host kept ahead of the GPU so that launching does not
count. GB/s counts each byte read and written once. Needs torch, triton and one GPU.
"""

import argparse
import dataclasses
import json
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import triton

from benchmarks.copy_triton import copy
from fse_core.quantize.base import Format, Quantized
from fse_core.quantize.fp8_block import Fp8Block
from fse_core.quantize.fp8_channel import Fp8Channel
from fse_core.quantize.fp8_tensor import Fp8Tensor
from fse_core.quantize.mxfp4 import Mxfp4
from fse_core.quantize.mxfp8 import Mxfp8

# Its functions are not all annotated.
CUDA: Any = torch.cuda

SHAPES = ((512, 2048), (2048, 7168), (7168, 2048), (16384, 16384))
FORMATS: dict[str, Format] = {
    "mxfp4": Mxfp4(),
    "mxfp4 positive": Mxfp4(zero="positive"),
    "mxfp8": Mxfp8(),
    "fp8_block": Fp8Block(),
    "fp8_channel": Fp8Channel(),
    "fp8_tensor": Fp8Tensor(),
}
RUNS = 101
# Of the last dimension, as tensor parallelism over eight ranks cuts it.
RANKS = 8


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One shape in one format: microseconds, and what they are compared with."""

    shape: tuple[int, int]
    format: str
    us: float
    ceiling_us: float
    gb_per_s: float
    slice_us: float
    slice_copying_us: float

    def __str__(self) -> str:
        """As a line of the table."""
        return (
            f"{self.shape[0]:>6}x{self.shape[1]:<5} {self.format:<16} {self.us:8.1f} {self.gb_per_s:6.0f}"
            f" {self.ceiling_us / self.us:10.1%}   {self.slice_us:8.1f} {self.slice_copying_us:8.1f}"
            f" {self.slice_copying_us / self.slice_us:6.1f}"
        )


def main() -> None:
    """Measure and print every shape in every format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    print(f"torch {torch.__version__}, triton {triton.__version__}, {CUDA.get_device_name()}, medians of {RUNS}")
    print(
        f"{'shape':>12} {'format':<16} {'us':>8} {'GB/s':>6} {'of ceiling':>10}"
        f"   {'slice us':>8} {'copying':>8} {'ratio':>6}"
    )
    rows = []
    for shape in SHAPES:
        weight = (torch.randn(shape, device="cuda") * 0.02).bfloat16()
        for name, form in FORMATS.items():
            rows.append(measured(name, form, weight))
            print(rows[-1], flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps([dataclasses.asdict(row) for row in rows], indent=1) + "\n")


def measured(name: str, form: Format, weight: torch.Tensor) -> Row:
    """Time one weight whole and as a slice, and a copy of as many bytes."""
    done = form.quantize(weight)
    spent = timed(partial(form.quantize, weight, payload=done.payload, scale=done.scale))
    sliced, copying = slices(form, weight)
    return Row(
        shape=(weight.shape[0], weight.shape[1]),
        format=name,
        us=spent,
        ceiling_us=fastest_copy(weight, done.payload),
        gb_per_s=(weight.nbytes + done.payload.nbytes + done.scale.nbytes) / spent / 1e3,
        slice_us=sliced,
        slice_copying_us=copying,
    )


def slices(form: Format, weight: torch.Tensor) -> tuple[float, float]:
    """One rank's columns, into columns of a larger tensor: written in place, and by way of copies."""
    columns = weight.shape[1] // RANKS
    part = weight[:, columns : 2 * columns]
    own = form.storage(*part.shape)
    whole = torch.empty(own.payload_shape[0], own.payload_shape[1] * 2, dtype=own.payload_dtype, device="cuda")
    place = Quantized(
        payload=whole[:, own.payload_shape[1] :],
        scale=torch.empty(own.scale_shape, dtype=own.scale_dtype, device="cuda"),
    )

    def copying() -> None:
        done = form.quantize(part.contiguous())
        place.payload.copy_(done.payload)
        place.scale.copy_(done.scale)

    return timed(partial(form.quantize, part, payload=place.payload, scale=place.scale)), timed(copying)


def fastest_copy(weight: torch.Tensor, payload: torch.Tensor) -> float:
    """Microseconds of the copy kernel in its best configuration."""
    words = weight.view(torch.int32)
    target = payload.view(torch.uint8) if payload.shape[1] < weight.shape[1] else payload.view(torch.int16)
    scale = torch.empty(words.numel() // 16, dtype=torch.uint8, device="cuda")
    return min(
        timed(partial(copy, words, target, scale, size=size, warps=warps))
        for size in (512, 1024, 2048, 4096)
        for warps in (1, 2, 4, 8)
    )


def timed(run: Callable[[], object]) -> float:
    """Microseconds."""
    cache = torch.ones(256 << 20, dtype=torch.uint8, device="cuda")
    run()
    spans = []
    for _ in range(RUNS):
        begin, end = CUDA.Event(enable_timing=True), CUDA.Event(enable_timing=True)
        # Read, not written: lines that have to be written back first would be counted against what runs next.
        cache.amax()
        # The host enqueues everything while the GPU is kept busy here.
        CUDA._sleep(600_000)
        begin.record()
        run()
        end.record()
        spans.append((begin, end))
    CUDA.synchronize()
    return float(statistics.median(begin.elapsed_time(end) for begin, end in spans)) * 1e3


if __name__ == "__main__":
    main()
