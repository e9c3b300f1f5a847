"""A checkpoint folder: its files, its model, and where each tensor is."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from fse_core.convert.safetensors import Header, Tensor, read_header
from fse_core.errors import InputError
from fse_core.read.getters import shown
from fse_core.read.model import Model
from fse_core.read.safetensors.facts import INDEX_FILE
from fse_core.read.safetensors.index import MAX_INDEX, WEIGHTS, parse_index
from fse_core.read.source import read_model

JOURNAL: Final = ".fse-convert"
"""The folder that an unfinished conversion has in its output."""
_LEFT_OUT: Final = frozenset({".git", ".cache", JOURNAL})


@dataclass(frozen=True, kw_only=True)
class File:
    """A file of the folder, `name` relative to it; `path` is where its bytes are, a link followed. `mode` says who may
    read and write it.
    """

    name: str
    path: Path
    size: int
    modified: int
    mode: int


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """`shards` are the safetensors files that the model is read from, with their headers.

    `index` leads from each tensor to its shard, None where the folder has no index.
    """

    folder: Path
    files: Mapping[str, File]
    shards: Mapping[str, Header]
    index: Mapping[str, str] | None

    @cached_property
    def model(self) -> Model:
        return read_model(str(self.folder))

    @cached_property
    def places(self) -> Mapping[str, tuple[str, Tensor]]:
        """Every tensor's shard and place."""
        return {
            name: (shard, tensor) for shard, header in self.shards.items() for name, tensor in header.tensors.items()
        }

    def text(self, name: str) -> str:
        """A file's characters, ends of lines as they are. InputError where it is no text."""
        try:
            return self.files[name].path.read_bytes().decode()
        except OSError as error:
            raise InputError(name, f"cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise InputError(name, f"expected text in UTF-8: {error.reason} at byte {error.start}") from None

    def read(self, name: str, start: int = 0, count: int | None = None) -> bytearray:
        """A tensor's bytes, or so many of them from `start` on."""
        shard, tensor = self.places[name]
        data = bytearray(tensor.size - start if count is None else count)
        place, view = 0, memoryview(data)
        try:
            with self.files[shard].path.open("rb", buffering=0) as file:
                file.seek(tensor.start + start)
                while got := file.readinto(view[place:]):
                    place += got
        except OSError as error:
            raise InputError(shard, f"cannot be read: {error.strerror}") from None
        if place != len(data):
            raise InputError(shard, "became shorter while it was read")
        return data


def open_checkpoint(folder: str | Path) -> Checkpoint:
    """The checkpoint in `folder`. InputError names the file that is not what it must be."""
    root = Path(folder)
    if not root.is_dir():
        raise InputError(str(folder), "expected a checkpoint folder, and it is none")
    try:
        files = {file.name: file for file in _walk(root, root)}
    except OSError as error:
        raise InputError(str(error.filename or folder), f"cannot be read: {error.strerror}") from None
    index = _index(files)
    names = _shards(files, index)
    shards = {name: read_header(files[name].path) for name in names}
    _compare(shards, index)
    return Checkpoint(folder=root, files=files, shards=shards, index=index)


def _walk(root: Path, folder: Path) -> Iterator[File]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path = Path(entry.path)
        name = _name(path.relative_to(root))
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _LEFT_OUT:
                yield from _walk(root, path)
            continue
        target = _followed(root, path, name) if entry.is_symlink() else path
        if not target.is_file():
            raise InputError(name, "expected a file, and it is none or leads to none")
        state = target.stat()
        mode = state.st_mode & 0o777
        yield File(name=name, path=target, size=state.st_size, modified=state.st_mtime_ns, mode=mode)


def _name(path: Path) -> str:
    """The file's name, which the manifest can hold. InputError where it is no Unicode text."""
    name = path.as_posix()
    try:
        name.encode()
    except UnicodeEncodeError:
        told = os.fsencode(name).decode("utf-8", "backslashreplace")
        raise InputError(told, "expected a file name in UTF-8") from None
    return name


def _followed(root: Path, path: Path, name: str) -> Path:
    """What a link leads to: a file of the folder, or one of the blobs that a Hub cache keeps beside its snapshots."""
    try:
        target, inside = path.resolve(), root.resolve()
    except (OSError, RuntimeError):  # which one says that links lead in a circle hangs on Python's version
        raise InputError(name, "is a link that leads to no file") from None
    blobs = inside.parent.parent / "blobs"
    if target.is_relative_to(inside) or (inside.parent.name == "snapshots" and target.parent == blobs):
        return target
    raise InputError(name, "is a link that leads out of the folder, which is not followed")


def _index(files: Mapping[str, File]) -> Mapping[str, str] | None:
    if INDEX_FILE not in files:
        return None
    try:
        with files[INDEX_FILE].path.open("rb") as file:
            return parse_index(file.read(MAX_INDEX + 1)).weight_map
    except OSError as error:
        raise InputError(INDEX_FILE, f"cannot be read: {error.strerror}") from None


def _shards(files: Mapping[str, File], index: Mapping[str, str] | None) -> list[str]:
    if index is None:
        found = [name for name in files if name.endswith(WEIGHTS) and "/" not in name]
        if not found:
            raise InputError("", f"the folder has no {WEIGHTS} file: only such checkpoints are converted")
        return found
    named = sorted(set(index.values()))
    for name in named:
        if name not in files:
            raise InputError(INDEX_FILE, f"names {name}, which is not in the folder")
    return named


def _compare(shards: Mapping[str, Header], index: Mapping[str, str] | None) -> None:
    """Every tensor is where the index says, and in one place."""
    seen: dict[str, str] = {}
    for shard, header in shards.items():
        for name in header.tensors:
            if name in seen:
                raise InputError(shard, f"{name} is in {seen[name]}, too")
            seen[name] = shard
    if index is None or index == seen:
        return
    for name in sorted(seen.keys() | index.keys()):
        if name not in seen:
            raise InputError(INDEX_FILE, f"{name}: {index[name]} does not hold it")
        if index.get(name) != seen[name]:
            raise InputError(INDEX_FILE, f"{name}: expected {seen[name]}, where it is, got {shown(index.get(name))}")
