"""A checkpoint in a folder on this machine."""

import os
import stat
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from fse_core.errors import InputError
from fse_core.read.safetensors.facts import INDEX_FILE, Header
from fse_core.read.safetensors.header import LENGTH, header_length, parse_header
from fse_core.read.safetensors.index import MAX_INDEX, WEIGHTS, Index, parse_index


class Folder:
    """The files in the folder itself, links followed; nothing below it."""

    workers = 1

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def sizes(self) -> Mapping[str, int | None]:
        try:
            names = sorted(name for name in os.listdir(self.path) if name.endswith(WEIGHTS) or name == INDEX_FILE)
        except OSError as error:
            raise InputError(str(self.path), f"cannot be read: {error.strerror or error}") from None
        return dict.fromkeys(names)

    def index(self) -> Index:
        with self._open(INDEX_FILE) as file:
            return parse_index(self._read(file, INDEX_FILE, MAX_INDEX + 1))

    def header(self, name: str) -> Header:
        with self._open(name) as file:
            size = os.fstat(file.fileno()).st_size
            first = self._read(file, name, LENGTH)
            return parse_header(first + self._read(file, name, header_length(first, name, size)), name, size)

    def _open(self, name: str) -> BinaryIO:
        try:
            # Opening a pipe would wait for a writer, and a device may never end.
            if not stat.S_ISREG(os.stat(self.path / name).st_mode):
                raise InputError(name, "expected a file, and it is none")
            return (self.path / name).open("rb")
        except OSError as error:
            raise InputError(name, f"cannot be read: {error.strerror or error}") from None

    def _read(self, file: BinaryIO, name: str, count: int) -> bytes:
        try:
            return file.read(count)
        except OSError as error:
            raise InputError(name, f"cannot be read: {error.strerror or error}") from None
