"""Where a safetensors file's tensors lie in it, and the header of a new one.

Not by the `safetensors` package, which hands out tensors and memory maps: what is kept is copied as bytes, through
buffers of a known size, and neither planning nor verifying should need torch.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fse_core.errors import InputError
from fse_core.read.safetensors.dtypes import BITS
from fse_core.read.safetensors.header import LENGTH, header_length, parse_header

_METADATA: Final = "__metadata__"


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """One tensor: `start` and `end` are offsets in the file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int = 0
    end: int = 0

    @property
    def size(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, kw_only=True)
class Header:
    """A file's tensors in the order of their bytes, and its metadata as it is, None where it has none."""

    tensors: Mapping[str, Tensor]
    metadata: Any
    file_size: int


def read_header(path: Path) -> Header:
    """The header of the file. InputError where the file is not what the format says."""
    name = path.name
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            first = file.read(LENGTH)
            data = first + file.read(header_length(first, name, size))
    except OSError as error:
        raise InputError(name, f"cannot be read: {error.strerror or error}") from None
    facts = parse_header(data, name, size)  # refuses whatever is wrong
    document = json.loads(data[LENGTH:])
    tensors = [
        Tensor(
            name=one.name,
            dtype=one.dtype,
            shape=one.shape,
            start=len(data) + document[one.name]["data_offsets"][0],
            end=len(data) + document[one.name]["data_offsets"][1],
        )
        for one in facts.tensors.values()
    ]
    tensors.sort(key=lambda tensor: (tensor.start, tensor.end))
    return Header(tensors={tensor.name: tensor for tensor in tensors}, metadata=document.get(_METADATA), file_size=size)


def placed(kept: Iterable[Tensor], made: Sequence[tuple[Tensor, Tensor]], metadata: Any) -> tuple[bytes, Header]:
    """The bytes before the first tensor's, and the header of a new file; `made` are payloads with their scales.

    What is made comes last, so that it is made while the rest is copied, and a payload after its scale, so that no more
    than one has to wait. But each tensor starts at a multiple of its item size, which readers may rely on: where that
    would not come out, wide types come first, as the format's own writer has it.
    """
    pairs = [tensor for payload, scale in made for tensor in (scale, payload)]
    ordered = [*sorted(kept, key=_width), *pairs]
    if not _aligned(ordered):
        ordered.sort(key=_width)
    entries: dict[str, Any] = {} if metadata is None else {_METADATA: metadata}
    place = 0
    for tensor in ordered:
        offsets = [place, place + tensor.size]
        entries[tensor.name] = {"dtype": tensor.dtype, "shape": list(tensor.shape), "data_offsets": offsets}
        place += tensor.size
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    first = LENGTH + len(text)
    after = {
        tensor.name: Tensor(
            name=tensor.name,
            dtype=tensor.dtype,
            shape=tensor.shape,
            start=first + entries[tensor.name]["data_offsets"][0],
            end=first + entries[tensor.name]["data_offsets"][1],
        )
        for tensor in ordered
    }
    return len(text).to_bytes(LENGTH, "little") + text, Header(
        tensors=after, metadata=metadata, file_size=first + place
    )


def _aligned(tensors: Iterable[Tensor]) -> bool:
    """Whether each starts at a multiple of its item size."""
    place = 0
    for tensor in tensors:
        if place * 8 % BITS[tensor.dtype]:
            return False
        place += tensor.size
    return True


def _width(tensor: Tensor) -> int:
    return -BITS[tensor.dtype]
