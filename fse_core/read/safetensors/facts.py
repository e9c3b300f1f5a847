"""What is kept of the headers: facts, and what does not fit together as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Final, Literal

from fse_core.read.safetensors.dtypes import BITS
from fse_core.read.safetensors.names import Role, role_of

ProblemKind = Literal[
    "no_files",
    "missing_file",
    "stray_file",
    "unreadable_file",
    "missing_tensor",
    "unlisted_tensor",
    "misplaced_tensor",
    "doubled_tensor",
    "total_size",
    "metadata",
]
INDEX_FILE: Final = "model.safetensors.index.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Tensor:
    """One tensor as a header states it. `file` is the one that holds it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: str

    @property
    def bytes(self) -> int:
        """What it takes in the file."""
        return prod(self.shape) * BITS[self.dtype] // 8


@dataclass(frozen=True, kw_only=True)
class Header:
    """One file's tensors by name. `metadata` are its free-form texts; `odd` those that are no texts, by key."""

    tensors: Mapping[str, Tensor]
    metadata: Mapping[str, str]
    size: int
    odd: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class File:
    """A file whose header was read."""

    name: str
    size: int
    tensors: int
    metadata: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What does not fit together, about one file. `tensors` are the first of the `count` that it is about."""

    kind: ProblemKind
    file: str
    message: str
    tensors: tuple[str, ...] = ()
    count: int = 0


@dataclass(frozen=True, kw_only=True)
class Headers:
    """The headers that were read. Where they are not `complete`, a tensor that is not here may still be there.

    `listed` is where the index says that each tensor is; None where there is no index, or it was not read. `anchored`:
    all files that were read are known to be loaded; an index that was not read might leave one out.
    """

    tensors: Mapping[str, Tensor]
    files: Mapping[str, File]
    problems: tuple[Problem, ...] = ()
    complete: bool = True
    listed: Mapping[str, str] | None = None
    anchored: bool = True

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What was made of the tensors of one head, by it, for the next who asks."""
        return {}

    @cached_property
    def by_head(self) -> Mapping[str, tuple[tuple[Role, Tensor], ...]]:
        """The tensors of routed and shared experts, by the part of their names that ends in the layer's number."""
        found: dict[str, list[tuple[Role, Tensor]]] = {}
        for name, tensor in self.tensors.items():
            role = role_of(name)
            if role is not None:
                found.setdefault(role.head, []).append((role, tensor))
        return {head: tuple(members) for head, members in found.items()}

    @cached_property
    def listed_by_head(self) -> Mapping[str, tuple[tuple[Role, str], ...]]:
        """The tensors of experts that the index names, in the same way; those are left out that a file which was read
        does not have.
        """
        found: dict[str, list[tuple[Role, str]]] = {}
        for name, file in (self.listed or {}).items():
            role = role_of(name)
            if role is not None and (file not in self.files or name in self.tensors):
                found.setdefault(role.head, []).append((role, name))
        return {head: tuple(members) for head, members in found.items()}
