"""Tensors whose bytes follow from their names, and the file that holds them."""

import hashlib
import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

BITS = {"BF16": 16, "F8_E4M3": 8, "U8": 8, "F32": 32}
NAN = 0x7F
"""The one magnitude of e4m3fn that is no number."""
GROUP_BYTES = 64
"""32 bf16 numbers."""
_HIGH_BYTES = bytes(byte & 0x80 | (0x38 | byte & 0x07 if byte & 0x78 else 0) for byte in range(256))
"""Keeps the sign, and lets the exponent be one of 112 to 127, or 0."""


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """One tensor of a checkpoint, its type as safetensors calls it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    data: bytes


def weights(name: str, *shape: int) -> Tensor:
    """bf16 weights of magnitudes below 2, one in sixteen subnormal or zero, and now and then a group of zeros."""
    data = bytearray(_noise(name, 2 * prod(shape)))
    data[1::2] = data[1::2].translate(_HIGH_BYTES)
    for start in range(0, len(data), GROUP_BYTES):
        if data[start] < 4:
            data[start : start + GROUP_BYTES] = bytes(GROUP_BYTES)
    return Tensor(name=name, dtype="BF16", shape=shape, data=bytes(data))


def codes(name: str, *shape: int) -> Tensor:
    """e4m3fn numbers, none of them NaN."""
    finite = bytes(code - 1 if code & NAN == NAN else code for code in range(256))
    return Tensor(name=name, dtype="F8_E4M3", shape=shape, data=_noise(name, prod(shape)).translate(finite))


def nibbles(name: str, *shape: int) -> Tensor:
    """Pairs of e2m1 numbers, every one of which is finite."""
    return Tensor(name=name, dtype="U8", shape=shape, data=_noise(name, prod(shape)))


def exponents(name: str, *shape: int) -> Tensor:
    """e8m0 scales of 2^-15 to 2^0."""
    near_one = bytes(112 + (byte & 15) for byte in range(256))
    return Tensor(name=name, dtype="U8", shape=shape, data=_noise(name, prod(shape)).translate(near_one))


def scales(name: str, *shape: int) -> Tensor:
    """float32 scales, each a whole number of 2^-16."""
    counts = memoryview(_noise(name, 2 * prod(shape))).cast("H")
    numbers = struct.pack(f"<{len(counts)}f", *((count + 1) / 65536 for count in counts))
    return Tensor(name=name, dtype="F32", shape=shape, data=numbers)


def stacked(name: str, parts: Iterable[Tensor]) -> Tensor:
    """Tensors of equal columns as one, the rows of the first on top."""
    first, *others = parts
    rows = first.shape[0] + sum(part.shape[0] for part in others)
    data = b"".join(part.data for part in (first, *others))
    return Tensor(name=name, dtype=first.dtype, shape=(rows, *first.shape[1:]), data=data)


def batched(name: str, experts: Iterable[Tensor]) -> Tensor:
    """Tensors of one shape, one of each expert, as one."""
    first, *others = experts
    data = b"".join(expert.data for expert in (first, *others))
    return Tensor(name=name, dtype=first.dtype, shape=(1 + len(others), *first.shape), data=data)


def write(file: Path, tensors: Iterable[Tensor]) -> None:
    """A safetensors file with `tensors`, in their order."""
    kept = list(tensors)
    header = json.dumps(dict(_entries(kept))).encode()
    header += b" " * (-len(header) % 8)
    with file.open("wb") as out:
        out.write(struct.pack("<Q", len(header)) + header)
        out.writelines(tensor.data for tensor in kept)


def _entries(tensors: Iterable[Tensor]) -> Iterator[tuple[str, dict[str, object]]]:
    start = 0
    for tensor in tensors:
        end = start + len(tensor.data)
        assert (end - start) * 8 == prod(tensor.shape) * BITS[tensor.dtype], tensor.name
        yield tensor.name, {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": (start, end)}
        start = end


def _noise(name: str, size: int) -> bytes:
    return hashlib.shake_256(name.encode()).digest(size)
