"""Checkpoints that are only their headers: files as large as real ones, of which nothing but the header is held."""

import json
from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

from fse_core.read.safetensors.dtypes import BITS
from tests.hub_server import Hollow

Entry = tuple[str, tuple[int, ...]]
"""Number type and shape."""

INDEX = "model.safetensors.index.json"


def header(document: Any, *, size: int | None = None) -> bytes:
    """A file's beginning: the length (or `size` in its place) and a JSON document, or these bytes."""
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    return (len(text) if size is None else size).to_bytes(8, "little") + text


def entries(tensors: Mapping[str, Entry], first: int = 0) -> tuple[dict[str, Any], int]:
    """The header's entries, one tensor after the other, and how many bytes they take."""
    document: dict[str, Any] = {}
    place = first
    for name, (dtype, shape) in tensors.items():
        end = place + prod(shape) * BITS[dtype] // 8
        document[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [place, end]}
        place = end
    return document, place


def file(tensors: Mapping[str, Entry], metadata: Any = None, *, pad: int = 0) -> Hollow:
    """A sound file; its header is padded with blanks to `pad` bytes, where that is more."""
    document, size = entries(tensors)
    if metadata is not None:
        document = {"__metadata__": metadata, **document}
    head = header(json.dumps(document, separators=(",", ":")).encode().ljust(pad))
    return Hollow(head, len(head) + size)


def index(weight_map: Mapping[str, str], total: Any = None) -> bytes:
    """The index as it is usually written."""
    return json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map}, indent=2).encode()


def sharded(tensors: Mapping[str, Entry], shards: int) -> dict[str, Hollow | bytes]:
    """The tensors in so many files of as many tensors each, in order, and the index."""
    names = list(tensors)
    files: dict[str, Hollow | bytes] = {}
    weight_map: dict[str, str] = {}
    for number in range(shards):
        mine = names[len(names) * number // shards : len(names) * (number + 1) // shards]
        name = f"model-{number + 1:05}-of-{shards:05}.safetensors"
        files[name] = file({name: tensors[name] for name in mine}, {"format": "pt"})
        weight_map |= dict.fromkeys(mine, name)
    total = sum(prod(shape) * BITS[dtype] // 8 for dtype, shape in tensors.values())
    files[INDEX] = index(weight_map, total)
    return files


def block(name: str, rows: int, columns: int) -> dict[str, Entry]:
    """A weight in FP8 with a scale for each block of 128 by 128."""
    return {
        f"{name}.weight": ("F8_E4M3", (rows, columns)),
        f"{name}.weight_scale_inv": ("F32", (-(-rows // 128), -(-columns // 128))),
    }


def expert(name: str, width: int, hidden: int) -> dict[str, Entry]:
    """The three projections of one."""
    return {
        **block(f"{name}.gate_proj", width, hidden),
        **block(f"{name}.up_proj", width, hidden),
        **block(f"{name}.down_proj", hidden, width),
    }


def deepseek(layers: Iterable[int], experts: int, *, dense: int = 3, hidden: int = 7168) -> dict[str, Entry]:
    """A DeepSeek-V3 of these layers, in the order of its modules."""
    tensors: dict[str, Entry] = {"model.embed_tokens.weight": ("BF16", (129280, hidden))}
    for layer in layers:
        prefix = f"model.layers.{layer}"
        for leaf, rows in (("q_a_proj", 1536), ("q_b_proj", 24576), ("kv_b_proj", 32768), ("o_proj", hidden)):
            tensors |= block(f"{prefix}.self_attn.{leaf}", rows, 1536)
        tensors[f"{prefix}.input_layernorm.weight"] = ("BF16", (hidden,))
        if layer < dense:
            tensors |= expert(f"{prefix}.mlp", 18432, hidden)
            continue
        for number in range(experts):
            tensors |= expert(f"{prefix}.mlp.experts.{number}", 2048, hidden)
        tensors[f"{prefix}.mlp.gate.weight"] = ("BF16", (experts, hidden))
        tensors |= expert(f"{prefix}.mlp.shared_experts", 2048, hidden)
    tensors["lm_head.weight"] = ("BF16", (129280, hidden))
    return tensors
