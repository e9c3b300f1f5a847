"""The index of a checkpoint: which file holds which tensor."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fse_core.errors import InputError
from fse_core.read.getters import shown
from fse_core.read.safetensors.facts import INDEX_FILE

MAX_INDEX: Final = 64 * 1024 * 1024
"""How large an index may be: half a million tensors."""

WEIGHTS: Final = ".safetensors"
_SAFE: Final = re.compile(r"[^./\\\x00-\x1f\x7f:\ud800-\udfff][^/\\\x00-\x1f\x7f:\ud800-\udfff]*\.safetensors")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True)
class Index:
    """`weight_map` is tensor to file; `total_size` what the index states, None where it states no number."""

    weight_map: Mapping[str, str]
    total_size: int | None


def is_safe(name: str) -> bool:
    """Whether it is the name of a safetensors file beside the index, and no way to anywhere else."""
    return _SAFE.fullmatch(name) is not None


def parse_index(data: bytes, name: str = INDEX_FILE) -> Index:
    """The index in `data`. InputError where it is none, or leads out of its folder."""
    if len(data) > MAX_INDEX:
        raise InputError(name, f"larger than {MAX_INDEX // 1024**2} MiB, which no index is")
    document = _document(data, name)
    weight_map = document.get("weight_map")
    if not isinstance(weight_map, dict):
        raise InputError(f"{name}: weight_map", f"expected an object, got {shown(weight_map)}")
    safe: dict[str, str] = {}  # there are few files, which the tensors share
    for tensor, file in weight_map.items():
        found = safe.get(file) if isinstance(file, str) else None
        if found is None:
            found = safe[file] = _checked(file, tensor, name)
        if _SURROGATE.search(tensor):
            raise InputError(_at(name, tensor), "expected Unicode text, got half of a surrogate pair")
        weight_map[tensor] = found
    metadata = document.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    return Index(weight_map=weight_map, total_size=_whole(total))


def _checked(file: Any, tensor: str, name: str) -> str:
    if not isinstance(file, str) or not is_safe(file):
        raise InputError(
            _at(name, tensor), f"expected the name of a safetensors file beside the index, got {shown(file)}"
        )
    return file


def _at(name: str, tensor: str) -> str:
    return f"{name}: weight_map[{shown(tensor)}]"


def _whole(value: Any) -> int | None:
    """The number. Some writers state it as a float."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int and value >= 0 else None


def _document(data: bytes, name: str) -> dict[str, Any]:
    def once(items: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(items)
        if len(built) != len(items):
            raise ValueError("a key stands there more than once")
        return built

    try:
        document = json.loads(data.decode("utf-8"), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:  # a UnicodeDecodeError is a ValueError
        raise InputError(name, f"is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise InputError(name, f"expected a JSON object, got {shown(document)}")
    return document
