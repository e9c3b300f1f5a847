"""What a peer gave, as a file under tests/quantize/known: digests over a range of rows, and some rows in full."""

import ctypes
import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

KNOWN = Path(__file__).parent.parent / "known"
# Rows that are recorded in full, and how many bytes of each: the payload of 64 elements.
SAMPLES = 40
SHOWN = {"mxfp4": 32, "mxfp8": 64}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answer:
    """A peer's bytes for rows `first` to `last` of the exhaustive blocks; `options` are those of ours that match it."""

    name: str
    peer: str
    version: str
    call: str
    how: str
    format: str
    options: Mapping[str, str]
    first: int
    last: int
    payload: torch.Tensor
    scale: torch.Tensor

    def record(self) -> dict[str, Any]:
        """As it is written: of the tensors, digests and samples."""
        shown = SHOWN[self.format]
        payload, scale = (tensor.contiguous().view(torch.uint8) for tensor in (self.payload, self.scale))
        step = (self.last - self.first) // SAMPLES
        return {
            "peer": self.peer,
            "version": self.version,
            "call": self.call,
            "how": self.how,
            "format": self.format,
            "options": dict(self.options),
            "rows": [self.first, self.last],
            "scale_sha256": digest(scale),
            "payload_sha256": digest(payload),
            "samples": [
                {
                    "row": self.first + row,
                    "scale": bytes(scale[row, :2].tolist()).hex(),
                    "payload": bytes(payload[row, :shown].tolist()).hex(),
                }
                for row in range(0, len(payload), step)
            ],
        }

    def write(self) -> Path:
        """Write the record, and say where."""
        path = KNOWN / f"{self.name}.json"
        path.write_text(json.dumps(self.record(), indent=1) + "\n")
        return path


def digest(tensor: torch.Tensor) -> str:
    """The sha256 of a tensor's bytes, row by row."""
    whole = tensor.contiguous()
    return hashlib.sha256(ctypes.string_at(whole.data_ptr(), whole.nbytes)).hexdigest()
