"""Where a checkpoint's files are, as far as reading headers goes."""

from collections.abc import Mapping
from typing import Protocol

from fse_core.read.safetensors.facts import Header
from fse_core.read.safetensors.index import Index


class Place(Protocol):
    """A folder, or one commit of a repository on the Hub.

    `sizes` are its safetensors files (and its index) by name, with their sizes; None where a size is not known before
    it is read.
    """

    workers: int

    @property
    def sizes(self) -> Mapping[str, int | None]: ...

    def index(self) -> Index:
        """The index, which has to be among the files. InputError where it is none."""
        ...

    def header(self, name: str) -> Header:
        """The header of one file. InputError where the file is not what it must be."""
        ...
