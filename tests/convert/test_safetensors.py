"""The header of a safetensors file: what is refused, and what a new one looks like."""

import json
from pathlib import Path
from typing import Any

import pytest

from fse_core.convert.safetensors import Tensor, placed, read_header
from fse_core.errors import InputError
from fse_core.read.safetensors.dtypes import BITS


def file(path: Path, header: Any, data: bytes = b"") -> Path:
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def entry(start: int, end: int, dtype: str = "U8", shape: list[int] | None = None) -> dict[str, Any]:
    return {"dtype": dtype, "shape": [end - start] if shape is None else shape, "data_offsets": [start, end]}


def test_a_header(tmp_path: Path) -> None:
    path = file(tmp_path / "a.safetensors", {"__metadata__": {"k": "v"}, "b": entry(2, 4), "a": entry(0, 2)}, b"wxyz")
    header = read_header(path)
    assert list(header.tensors) == ["a", "b"]
    assert header.metadata == {"k": "v"}
    assert path.read_bytes()[header.tensors["b"].start : header.tensors["b"].end] == b"yz"


def test_what_is_wrong_is_said_by_the_file_s_name(tmp_path: Path) -> None:
    path = file(tmp_path / "a.safetensors", {"a": entry(0, 2)}, b"x")
    with pytest.raises(InputError, match=r"^a.safetensors: lacks the last 1 bytes"):
        read_header(path)
    with pytest.raises(InputError, match=r"^none.safetensors: cannot be read"):
        read_header(tmp_path / "none.safetensors")


def test_odd_metadata_is_kept_as_it_is(tmp_path: Path) -> None:
    path = file(tmp_path / "a.safetensors", {"__metadata__": {"k": 1, "l": "m"}, "a": entry(0, 1)}, b"x")
    header = read_header(path)
    head, _ = placed(header.tensors.values(), [], header.metadata)
    assert json.loads(head[8:])["__metadata__"] == {"k": 1, "l": "m"}


def tensor(name: str, dtype: str, count: int) -> Tensor:
    return Tensor(name=name, dtype=dtype, shape=(count,), end=count * BITS[dtype] // 8)


@pytest.mark.parametrize("odd", [0, 1])
def test_every_tensor_starts_at_a_multiple_of_its_item_size(tmp_path: Path, odd: int) -> None:
    kept = [tensor("u", "U8", 3), tensor("b", "BF16", 3), tensor("i", "I64", 1), tensor("f", "F32", 1)]
    made = [(tensor(f"p{i}", "F8_E4M3", 8 + odd), tensor(f"s{i}", "F32", 3)) for i in range(2)]
    head, header = placed(kept, made, {"format": "pt"})
    for one in header.tensors.values():
        assert one.start % (BITS[one.dtype] // 8) == 0
    (tmp_path / "a.safetensors").write_bytes(head + bytes(header.file_size - len(head)))
    assert read_header(tmp_path / "a.safetensors") == header


def test_a_payload_follows_its_scale() -> None:
    made = [(tensor(f"p{i}", "F8_E4M3", 8), tensor(f"s{i}", "F32", 1)) for i in range(2)]
    _, header = placed([tensor("b", "BF16", 4), tensor("f", "F32", 1)], made, None)
    assert list(header.tensors) == ["f", "b", "s0", "p0", "s1", "p1"]
