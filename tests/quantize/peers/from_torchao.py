"""torchao's MX tensors, on a CPU."""

import importlib
from collections.abc import Iterator
from pathlib import Path

import torch

from tests.quantize import exhaustive
from tests.quantize.peers.record import Answer

# Below, torchao divides by 2^-126 where the scale is 2^-127. At the end of the range its scales are one lower.
MXFP4_ROWS, MXFP8_ROWS = (0x180, 0x7F60), (0x480, 0x7F00)


def answers(source: Path | None, version: str | None) -> Iterator[Answer]:
    """Rule EVEN in both formats, RCEIL in MXFP8."""
    torchao = importlib.import_module("torchao")
    to_mx = importlib.import_module("torchao.prototype.mx_formats.mx_tensor").to_mx
    modes = importlib.import_module("torchao.prototype.mx_formats.config").ScaleCalculationMode
    for form, rule, dtype in (
        ("mxfp4", "even", torch.float4_e2m1fn_x2),
        ("mxfp8", "even", torch.float8_e4m3fn),
        ("mxfp8", "rceil", torch.float8_e4m3fn),
    ):
        first, last = MXFP4_ROWS if form == "mxfp4" else MXFP8_ROWS
        blocks = exhaustive.e2m1_blocks() if form == "mxfp4" else exhaustive.e4m3_blocks()
        weight = blocks[first:last].contiguous()
        scale, payload = to_mx(weight, dtype, 32, modes[rule.upper()])[:2]
        yield Answer(
            name=f"torchao-{form}-{rule}",
            peer="torchao",
            version=version or torchao.__version__,
            call=f"prototype.mx_formats.mx_tensor.to_mx, ScaleCalculationMode.{rule.upper()}",
            how=f"on a CPU, torch {torch.__version__}",
            format=form,
            options={"rule": rule} if form == "mxfp8" else {},
            first=first,
            last=last,
            payload=payload.view(torch.uint8),
            scale=scale.view(torch.uint8).view(len(weight), -1),
        )
