"""Whether a GPU makes the reference's bytes: by Triton kernels, by `torch.compile`, and by the reference run there.

    python -m benchmarks.gpu_exact [--cpu]

Every finite bfloat16 that can be the largest of a group, with every tie, neighbour, zero and subnormal, then Inf
and NaN, then weights and outputs that are slices of larger ones. The reference runs on the CPU. Needs torch, triton
and one GPU; with `--cpu` none, the kernels then run in Triton's interpreter (some minutes).
"""

import argparse
import dataclasses
import os
import sys
import time
from collections.abc import Iterator

import torch

from fse_core.quantize.base import Backend, Format, Quantized
from fse_core.quantize.fp8_block import Fp8Block
from fse_core.quantize.fp8_channel import Fp8Channel
from fse_core.quantize.fp8_tensor import Fp8Tensor
from fse_core.quantize.mxfp4 import Mxfp4
from fse_core.quantize.mxfp8 import Mxfp8
from tests.quantize import exhaustive

FORMATS: tuple[Format, ...] = (
    Mxfp4(),
    Mxfp4(zero="positive"),
    Mxfp8(),
    Mxfp8(rule="even"),
    Fp8Block(),
    Fp8Channel(),
    Fp8Tensor(),
)
# Where it runs, and by what.
ON_CPU: tuple[tuple[str, Backend], ...] = (("cpu", "triton"), ("cpu", "blocked"), ("cpu", "compiled"))
WAYS: tuple[tuple[str, Backend], ...] = (
    ("cuda", "triton"),
    ("cuda", "auto"),
    ("cuda", "compiled"),
    ("cuda", "reference"),
    ("cpu", "blocked"),
    ("cpu", "compiled"),
)


def main() -> int:
    """Compare every way with the reference; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="on a CPU alone")
    on_cpu = parser.parse_args().cpu
    if on_cpu:
        # Read when triton is first imported.
        os.environ["TRITON_INTERPRET"] = "1"
    device = "cpu" if on_cpu else "cuda"
    print(f"torch {torch.__version__}, {'CPU' if on_cpu else torch.cuda.get_device_name()}")
    wrong = sum(_compared(form, device, ON_CPU if on_cpu else WAYS) for form in FORMATS)
    print("all equal" if not wrong else f"{wrong} bytes differ")
    return int(wrong > 0)


def _compared(form: Format, device: str, ways: tuple[tuple[str, Backend], ...]) -> int:
    """How many bytes differ."""
    wrong, elements, started = 0, 0, time.monotonic()
    for name, weight in _weights(form):
        wanted = dataclasses.replace(form, backend="reference").quantize(weight)
        for where, backend in ways:
            got = dataclasses.replace(form, backend=backend).quantize(weight.to(where))
            wrong += _said(f"{form} {name} {where} {backend}", wanted, got)
        wrong += _said(f"{form} {name} {device} sliced", wanted, _into_slices(form, weight.to(device)))
        elements += weight.numel()
    print(f"{form}: {elements} elements, {len(ways)} ways, {time.monotonic() - started:.0f} s", flush=True)
    return wrong


def _weights(form: Format) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(form, Mxfp4):
        yield "exhaustive", exhaustive.mx_blocks(exhaustive.E2M1, 2)
    elif isinstance(form, Mxfp8):
        yield "exhaustive", exhaustive.mx_blocks(exhaustive.e4m3_values(), 8)
    elif isinstance(form, Fp8Channel):
        yield "exhaustive", exhaustive.scaled_rows(128)
        yield "every quotient", exhaustive.every_element()
    elif isinstance(form, Fp8Block):
        # Of one row each block has 1 x 128.
        yield "exhaustive", exhaustive.scaled_rows(128).view(1, -1)
    else:
        rows = exhaustive.scaled_rows(128)
        for amax in range(0, len(rows), 97):
            yield f"amax {amax:#06x}", rows[amax : amax + 1]
    yield "Inf and NaN", _unusual()
    yield "random", (torch.randn(1000, 1056, generator=torch.Generator().manual_seed(1)) * 0.02).bfloat16()


def _unusual() -> torch.Tensor:
    weight = (torch.randn(512, 512, generator=torch.Generator().manual_seed(2)) * 0.02).bfloat16()
    for row, value in ((3, float("inf")), (70, float("-inf")), (140, float("nan")), (300, -float("nan"))):
        weight[row, row] = value
    weight[400:] = 0
    return weight


def _into_slices(form: Format, weight: torch.Tensor) -> Quantized:
    rows, columns = weight.shape
    larger = torch.zeros(rows + 3, columns + 64, dtype=weight.dtype, device=weight.device)
    larger[2 : rows + 2, 32 : columns + 32] = weight
    storage = form.storage(rows, columns)
    payload = torch.zeros(rows + 1, storage.payload_shape[1] + 32, device=weight.device).to(storage.payload_dtype)
    shape = [size + 4 for size in storage.scale_shape]
    scale = torch.zeros(shape, device=weight.device).to(storage.scale_dtype)
    inner = scale[tuple(slice(1, size + 1) for size in storage.scale_shape)]
    return form.quantize(
        larger[2 : rows + 2, 32 : columns + 32], payload=payload[1:, 16 : storage.payload_shape[1] + 16], scale=inner
    )


def _said(what: str, wanted: Quantized, got: Quantized) -> int:
    wrong = sum(_differing(getattr(wanted, part), getattr(got, part)) for part in ("payload", "scale"))
    if wrong:
        print(f"{what}: {wrong} bytes differ")
    return wrong


def _differing(wanted: torch.Tensor, got: torch.Tensor) -> int:
    return int(
        (wanted.view(torch.uint8) != got.cpu().clone(memory_format=torch.contiguous_format).view(torch.uint8)).sum()
    )


if __name__ == "__main__":
    sys.exit(main())
