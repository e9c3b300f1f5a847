"""Brings FP8 shared experts back to bfloat16 while they are read, so that they can be quantized to another format.

A weight waits for its scales, and scales for their weight: a checkpoint may keep them in any order.
"""

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from fse_core.quantize import Quantized, formats
from fse_core.quantize.e8m0 import powers

_SCALES = (".scale", ".weight_scale_inv")


def widened(weights: Iterable[tuple[str, Tensor]]) -> Iterator[tuple[str, Tensor]]:
    """The same tensors, but for the FP8 ones of shared experts: those in bfloat16, and their scales not at all."""
    waiting: dict[str, dict[str, Tensor]] = {}
    for name, tensor in weights:
        stem, part = _split(name)
        if part is None or (part == "weight" and tensor.dtype != torch.float8_e4m3fn):
            yield name, tensor
            continue
        pair = waiting.setdefault(stem, {})
        pair[part] = tensor
        if len(pair) == 2:
            yield f"{stem}.weight", _values(**waiting.pop(stem))
    for stem, pair in waiting.items():  # what has no counterpart the release may deal with itself
        yield from ((f"{stem}.{part}", tensor) for part, tensor in pair.items())


def _split(name: str) -> tuple[str, str | None]:
    """The projection, and `weight` or `scale`; None where this is no shared expert's."""
    if ".shared_expert" not in name:
        return name, None
    for suffix in _SCALES:
        if name.endswith(suffix):
            return name.removesuffix(suffix), "scale"
    return (name.removesuffix(".weight"), "weight") if name.endswith(".weight") else (name, None)


def _values(weight: Tensor, scale: Tensor) -> Tensor:
    """bfloat16 [R, K] from e4m3fn [R, K] and one scale for 128 x 128: float32, or e8m0 as such or as bytes."""
    if scale.dtype == torch.float8_e8m0fnu:
        scale = scale.view(torch.uint8)
    factors = powers(scale) if scale.dtype == torch.uint8 else scale.float()
    return formats()["fp8_block"].dequantize(Quantized(payload=weight, scale=factors))
