"""Weights that tests share, and when two results are the same."""

import torch

from fse_core.quantize.base import Quantized

UNUSUAL = ("tiny", "huge", "inf", "nan", "zero", "negative zero")


def random(rows: int, columns: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(rows * columns)
    return (torch.randn(rows, columns, generator=generator) * 0.02).bfloat16()


def unusual(what: str) -> torch.Tensor:
    weight = random(160, 512)
    match what:
        case "tiny":
            weight[7:20] *= 2.0**-120
            weight[40:50] *= 2.0**-125
            weight[60, 5] = 2.0**-133
        case "huge":
            weight[3:9] *= 2.0**127
            weight[30, 30] = torch.finfo(torch.bfloat16).max
        case "inf":
            weight[3, 70], weight[100, 5] = torch.inf, -torch.inf
        case "nan":
            weight[3, 70], weight[100, 5] = torch.nan, -torch.nan
        case "zero":
            weight.zero_()
        case "negative zero":
            weight.fill_(-0.0)
    return weight


def same(one: Quantized, other: Quantized) -> bool:
    pairs = ((one.payload, other.payload), (one.scale, other.scale))
    return all(torch.equal(_bytes(a), _bytes(b)) for a, b in pairs)


def rows_of(result: Quantized, rows: slice) -> Quantized:
    return Quantized(payload=result.payload[rows], scale=result.scale[rows])


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.clone(memory_format=torch.contiguous_format).view(torch.uint8)
