"""The headers of a checkpoint, wherever it is: all of them, or as few as show how each kind of layer is stored."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal

from fse_core.errors import InputError
from fse_core.read.safetensors.crew import each
from fse_core.read.safetensors.facts import INDEX_FILE, Header, Headers
from fse_core.read.safetensors.index import Index
from fse_core.read.safetensors.place import Place
from fse_core.read.safetensors.reconcile import reconciled
from fse_core.read.safetensors.sample import Kinds, chosen
from fse_core.read.safetensors.search import found

Mode = Literal["sample", "full"]
Progress = Callable[[int, int], None]
"""Told how many of how many files were read."""

_MOST_FOR_SAMPLE: Final = 1536 * 1024
"""How large an index may be to be read for a sample. Looking for a layer in the headers takes about as much."""

_MOST_TENSORS: Final = 1_000_000
_MOST_FILES: Final = 10_000


def collect(place: Place, mode: Mode, kinds: Kinds = (), progress: Progress | None = None) -> Headers:
    """The headers. A file that is not what it must be is one of the problems; a FetchError ends it."""
    return _Collection(place, progress or (lambda done, total: None)).headers(mode, kinds)


class _Collection:
    def __init__(self, place: Place, progress: Progress) -> None:
        self.place = place
        self.progress = progress
        self.read: dict[str, Header | InputError] = {}
        self.present = frozenset(place.sizes) - {INDEX_FILE}
        self.tensors = 0
        if len(self.present) > _MOST_FILES:
            raise InputError("", f"more than {_MOST_FILES:,} safetensors files, which no checkpoint has")

    def headers(self, mode: Mode, kinds: Kinds) -> Headers:
        if mode == "full":
            return self._full(self._index())
        index = self._small_index()
        if index is None and INDEX_FILE in self.place.sizes:
            if found(sorted(self.present), kinds, self._one):
                return replace(reconciled(self.read, None, self.present, complete=False), anchored=False)
            index = self._index()
        if index is None:
            return self._full(None) if len(self.present) <= 1 else self._searched(kinds)
        files = chosen(index.weight_map, kinds) & self.present
        self._all(files)
        return reconciled(self.read, index, self.present, complete=files >= self.present)

    def _full(self, index: Index | None) -> Headers:
        self._all(self._loaded(index))
        return reconciled(self.read, index, self.present, complete=True)

    def _searched(self, kinds: Kinds) -> Headers:
        if not found(sorted(self.present), kinds, self._one):
            return self._full(None)
        return reconciled(self.read, None, self.present, complete=False)

    def _loaded(self, index: Index | None) -> frozenset[str]:
        """What a release reads: the files that the index names, all where there is none."""
        return self.present if index is None else self.present.intersection(index.weight_map.values())

    def _small_index(self) -> Index | None:
        size = self.place.sizes.get(INDEX_FILE)
        return self._index() if size is None or size <= _MOST_FOR_SAMPLE else None

    def _index(self) -> Index | None:
        if INDEX_FILE not in self.place.sizes:
            return None
        return self.place.index()

    def _all(self, files: frozenset[str]) -> None:
        left = sorted(files - self.read.keys())
        self.progress(0, len(left))
        for done, (_, header) in enumerate(each(left, self._kept, workers=self.place.workers), 1):
            self.progress(done, len(left))
            self._count(header)

    def _one(self, file: str) -> Header | None:
        header = self.read.get(file) or self._kept(file)
        self._count(header)
        return header if isinstance(header, Header) else None

    def _kept(self, file: str) -> Header | InputError:
        try:
            self.read[file] = self.place.header(file)
        except InputError as error:
            self.read[file] = error
        return self.read[file]

    def _count(self, header: Header | InputError) -> None:
        if isinstance(header, Header):
            self.tensors += len(header.tensors)
        if self.tensors > _MOST_TENSORS:
            raise InputError("", f"more than {_MOST_TENSORS:,} tensors, which no checkpoint has")
