"""Checkpoints whose headers the service reads, and what it says of the reading."""

import json
import time
from typing import Any

from starlette.testclient import TestClient

from tests.models import DEEPSEEK, FP8_BLOCK
from tests.safetensors_files import Entry, deepseek, file, index, sharded
from tests.service.clients import files

HIDDEN = 256
CONFIG = {
    **DEEPSEEK,
    "hidden_size": HIDDEN,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 4,
    "num_nextn_predict_layers": 0,
    "quantization_config": FP8_BLOCK,
}
WHOLE = {"Prefer": "wait=60"}


def tensors() -> dict[str, Entry]:
    """A sound checkpoint of CONFIG."""
    return deepseek(range(5), 4, hidden=HIDDEN)


def plain_shared() -> dict[str, Entry]:
    """The same with shared experts in 16 bits, of which the config says nothing."""
    return {
        name: ("BF16", shape) if "shared_experts" in name else (dtype, shape)
        for name, (dtype, shape) in tensors().items()
        if not ("shared_experts" in name and name.endswith("scale_inv"))
    }


def checkpoint(found: dict[str, Entry], shards: int = 4) -> dict[str, Any]:
    """All that such a repository holds."""
    return {**files(CONFIG), **sharded(found, shards)}


def lacking() -> dict[str, Any]:
    """A checkpoint one of whose files is not there."""
    held = checkpoint(tensors())
    return {name: data for name, data in held.items() if name != "model-00002-of-00004.safetensors"}


def without_an_index() -> dict[str, Any]:
    """A checkpoint in one file."""
    return {**files(CONFIG), "model.safetensors": file(tensors())}


def with_a_wrong_index() -> dict[str, Any]:
    return {**checkpoint(tensors()), "model.safetensors.index.json": b"[]"}


def with_an_index_out_of_the_folder() -> dict[str, Any]:
    return {**checkpoint(tensors()), "model.safetensors.index.json": index({"a": "../b.safetensors"})}


def events(text: str) -> list[tuple[str, Any]]:
    """A stream's events as (name, data)."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if line and not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def settled(client: TestClient, url: str, seconds: float = 30) -> Any:
    """The answer that is not 202 any more, asked for now and then."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        response = client.get(url)
        if response.status_code != 202:
            return response
        time.sleep(0.1)
    raise AssertionError(f"still 202 after {seconds} s")
