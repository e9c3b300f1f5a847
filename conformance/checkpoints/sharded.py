"""A kind's checkpoint in as many files as it has experts: what a sample then reads of it."""

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from conformance.checkpoints.kinds import Kind
from fse_core.errors import InputError
from fse_core.read.safetensors.facts import INDEX_FILE, Header, Tensor
from fse_core.read.safetensors.index import Index
from fse_core.read.safetensors.names import role_of

_SIZE: Final = 4096
"""What a file is said to take, and an index that a sample reads."""
_LARGE: Final = 64 * 1024 * 1024
"""An index that a sample does not read."""


class Sharded:
    """The files that there would be, their headers, and their index (`small`, `large`, or `none`).

    Of the shared experts, the index leaves the files out, or they are lost, where the kind says so.
    """

    workers = 1

    def __init__(self, kind: Kind, index: str) -> None:
        self._kind = kind
        self._index = index

    @property
    def sizes(self) -> Mapping[str, int | None]:
        files: dict[str, int | None] = dict.fromkeys(self._present, _SIZE)
        return files | ({} if self._index == "none" else {INDEX_FILE: _LARGE if self._index == "large" else _SIZE})

    def index(self) -> Index:
        """What it lists, which is not what a file that it leaves out holds."""
        stray = self._kind.recipe.files == "stray"
        listed = {
            name: file
            for file, header in self._files.items()
            for name in header.tensors
            if not (stray and self._is_shared(name))
        }
        return Index(weight_map=listed, total_size=None)

    def header(self, name: str) -> Header:
        """The header of one that is there."""
        if name not in self._present:
            raise InputError(name, "cannot be read: there is none")
        return self._files[name]

    @property
    def _files(self) -> Mapping[str, Header]:
        if self._kind.name not in _FILES:
            _FILES[self._kind.name] = _files(self._kind)
        return _FILES[self._kind.name]

    @cached_property
    def _present(self) -> frozenset[str]:
        lost = self._kind.recipe.files == "lost"
        return frozenset(
            file for file, header in self._files.items() if not (lost and any(map(self._is_shared, header.tensors)))
        )

    def _is_shared(self, name: str) -> bool:
        return f".{self._kind.called.shared}." in name


_FILES: dict[str, Mapping[str, Header]] = {}
"""The files of each kind, made once."""


def _files(kind: Kind) -> Mapping[str, Header]:
    """In the order of the layers, the shared expert of each behind its routed ones."""
    groups: dict[tuple[str, bool, int], list[tuple[str, str, tuple[int, ...]]]] = {}
    for made in kind.tensors():
        role = role_of(made.name)
        assert role is not None, made.name
        groups.setdefault((role.head, role.shared, role.expert or 0), []).append((made.name, made.dtype, made.shape))
    files = {f"model-{number:05}-of-{len(groups):05}.safetensors": key for number, key in enumerate(sorted(groups), 1)}
    return {file: Header(tensors=_held(file, groups[key]), metadata={}, size=_SIZE) for file, key in files.items()}


def _held(file: str, made: list[tuple[str, str, tuple[int, ...]]]) -> Mapping[str, Tensor]:
    return {name: Tensor(name=name, dtype=dtype, shape=shape, file=file) for name, dtype, shape in made}
