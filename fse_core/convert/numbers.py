"""One shared weight's bytes in another number format, some rows at a time, so that what a step needs stays small."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import torch

from fse_core.convert.checkpoint import Checkpoint
from fse_core.convert.experts import Conversion
from fse_core.convert.safetensors import Tensor
from fse_core.errors import InputError
from fse_core.quantize import formats
from fse_core.quantize.base import Quantized
from fse_core.slots import PLAIN

_TYPES: Final = {
    "BF16": torch.bfloat16,
    "F16": torch.float16,
    "F32": torch.float32,
    "U8": torch.uint8,
    "F8_E8M0": torch.uint8,
    "F8_E4M3": torch.float8_e4m3fn,
}
_STEP: Final = {"cpu": 2**19, "cuda": 2**26}
"""How many weights are quantized at a time: on a CPU, a cacheful."""


_TOO_LARGE: Final = "holds numbers that are too large to be quantized"
_ROWS: Final = 128
"""What a step is a multiple of, so that no block is cut."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """A converted weight: its bytes, its scales' bytes, and how far they are from what was there."""

    payload: bytearray
    scale: bytearray
    relative_mse: float
    largest: float


def convert_weight(checkpoint: Checkpoint, one: Conversion, device: str) -> Made:
    """Reads one weight, some rows at a time, and quantizes it to the routed experts' format."""
    payload_as, scale_as = one.outputs
    payload, scale = bytearray(payload_as.size), bytearray(scale_as.size)
    payloads, scales = _tensor(payload, payload_as), _tensor(scale, scale_as)
    if one.layout.block == (1, None):
        scales = scales.view(-1)  # [R] or [R, 1]
    device = best_device() if device == "auto" else device
    wanted, high = formats()[one.layout.name], one.layout.block[0] or one.rows
    lost = total = largest = 0.0
    for first, weight in _steps(checkpoint, one, device):
        exact = weight.float().view(-1)
        _require_finite(one, exact, "holds Inf or NaN")
        rows = slice(first, first + len(weight))
        into = Quantized(payload=payloads[rows], scale=scales[first // high : math.ceil(rows.stop / high)])
        if device == "cpu":
            got = wanted.quantize(weight, payload=into.payload, scale=into.scale)
        else:
            got = wanted.quantize(weight)
            into.payload.copy_(got.payload)
            into.scale.copy_(got.scale)
        difference = wanted.dequantize(got, torch.float32).view(-1).sub_(exact)
        lost += float(torch.dot(difference, difference))
        total += float(torch.dot(exact, exact))
        largest = max(largest, _require_finite(one, difference, _TOO_LARGE))
    if not math.isfinite(lost) or not math.isfinite(total):
        raise InputError(one.shared.weight.name, _TOO_LARGE)
    return Made(payload=payload, scale=scale, relative_mse=lost / total if total else lost, largest=largest)


def _require_finite(one: Conversion, numbers: torch.Tensor, words: str) -> float:
    """How far the numbers are from zero at most. InputError where one is Inf or NaN, which no format keeps."""
    ends = [abs(float(end)) for end in torch.aminmax(numbers)]  # either is NaN where any number is
    if not all(map(math.isfinite, ends)):
        raise InputError(one.shared.weight.name, words)
    return max(ends)


def _steps(checkpoint: Checkpoint, one: Conversion, device: str) -> Iterator[tuple[int, torch.Tensor]]:
    """The weight's rows in full precision, with the number of the first."""
    stored, held = one.shared.weight, one.shared.scale
    scale = None
    if one.source is not PLAIN and held is not None:
        scale = _tensor(checkpoint.read(held.name), held).to(device)
    step = max(1, _STEP[device] // (one.columns * _ROWS)) * _ROWS
    row = stored.size // one.rows
    for first in range(0, one.rows, step):
        count = min(step, one.rows - first)
        data = checkpoint.read(stored.name, first * row, count * row)
        rows = _typed(data, stored.dtype).view(count, one.columns).to(device)
        if scale is not None:
            blocks = scale[first // _ROWS : math.ceil((first + count) / _ROWS)]
            rows = formats()[one.source.name].dequantize(Quantized(payload=rows, scale=blocks), torch.float32)
        yield first, rows


def _tensor(data: bytearray, like: Tensor) -> torch.Tensor:
    return _typed(data, like.dtype).view(like.shape)


def _typed(data: bytearray, dtype: str) -> torch.Tensor:
    return torch.frombuffer(data, dtype=torch.uint8).view(_TYPES[dtype])


def best_device() -> str:
    """A GPU where torch has one."""
    return "cuda" if torch.cuda.is_available() else "cpu"
