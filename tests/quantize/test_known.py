"""What other implementations gave for the exhaustive blocks, recorded with their versions: ours are the same bytes.

A record holds the digests of a peer's bytes over a range of rows, and some rows in full, so that a difference shows.
Outside the range peers differ from each other: groups below 2^-124 (mxfp4) or 2^-118 (mxfp8), and the very largest.
`python -m tests.quantize.peers` makes the records.
"""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch

from fse_core.quantize.base import Format
from fse_core.quantize.mxfp4 import Mxfp4
from fse_core.quantize.mxfp8 import Mxfp8
from tests.quantize import exhaustive
from tests.quantize.peers.record import digest

RECORDS = sorted((Path(__file__).parent / "known").glob("*.json"))


def test_there_are_records_of_every_peer() -> None:
    peers = {(record["peer"], record["format"]) for record in map(load, RECORDS)}
    assert {("vllm", "mxfp4"), ("vllm", "mxfp8"), ("torchao", "mxfp4"), ("torchao", "mxfp8")} <= peers
    assert {("aiter", "mxfp4"), ("amd-quark", "mxfp4")} <= peers


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_same_bytes(path: Path) -> None:
    record = load(path)
    form: Format = {"mxfp4": Mxfp4, "mxfp8": Mxfp8}[record["format"]](**record["options"])
    first, last = record["rows"]
    blocks = exhaustive.e2m1_blocks() if record["format"] == "mxfp4" else exhaustive.e4m3_blocks()
    done = form.quantize(blocks[first:last])
    payload, scale = done.payload.view(torch.uint8), done.scale
    for sample in record["samples"]:
        row, wanted = sample["row"] - first, bytes.fromhex(sample["payload"])
        assert bytes(payload[row, : len(wanted)].tolist()) == wanted, sample["row"]
        assert bytes(scale[row, :2].tolist()) == bytes.fromhex(sample["scale"]), sample["row"]
    assert digest(payload) == record["payload_sha256"]
    assert digest(scale) == record["scale_sha256"]


def load(path: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(path.read_text())
    return record
