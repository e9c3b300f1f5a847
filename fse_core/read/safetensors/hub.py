"""A checkpoint on the Hub, at one commit: its list of files, its index, and by ranged requests its headers.

The first request for a header asks for as much as the longest one so far took, which most of the others fit in; what
is missing is asked for exactly, from where the first answer came.
"""

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, Final, TypeVar

from fse_core.errors import FetchError, InputError
from fse_core.read.hub_errors import Asked, told
from fse_core.read.safetensors.facts import INDEX_FILE, Header
from fse_core.read.safetensors.header import LENGTH, header_length, parse_header
from fse_core.read.safetensors.index import MAX_INDEX, Index, is_safe, parse_index
from fse_core.read.safetensors.ranges import Budget, Part, Ranges
from fse_core.read.safetensors.store import Store

T = TypeVar("T")

_FIRST_GUESS: Final = 64 * 1024
_MOST_TOLD: Final = 32 * 1024 * 1024
"""Bytes that the list of files may have."""

_SIZE: Final = 8
"""Bytes that state a file's size before a header that is kept."""


class HubCheckpoint:
    """The safetensors files of one commit, outside any folder of it."""

    workers = 8

    def __init__(self, asked: Asked, commit: str, budget: Budget, store: Store | None) -> None:
        self.asked = asked
        self.commit = commit
        self.ranges = Ranges(asked, budget)
        self.store = store
        self._guess = _FIRST_GUESS
        self._lock = threading.Lock()

    @cached_property
    def sizes(self) -> Mapping[str, int | None]:
        # No file of a repository is called so.
        return self._kept("/files", lambda: json.dumps(self._listed()).encode(), _sizes)

    def index(self) -> Index:
        def fetched() -> bytes:
            part = self.ranges.whole(self._url(INDEX_FILE), "file", MAX_INDEX)
            self._require_commit(part, INDEX_FILE)
            return part.body

        return self._file(INDEX_FILE, lambda: self._kept(INDEX_FILE, fetched, parse_index))

    def header(self, name: str) -> Header:
        def fetched() -> bytes:
            raw, size = self._raw(name)
            return size.to_bytes(_SIZE, "little") + raw

        def parsed(kept: bytes) -> Header:
            return parse_header(kept[_SIZE:], name, int.from_bytes(kept[:_SIZE], "little"))

        return self._file(name, lambda: self._kept(name, fetched, parsed))

    def _kept(self, name: str, fetched: Callable[[], bytes], parsed: Callable[[bytes], T]) -> T:
        """What the store has, if it can be read; else what is fetched, which the store then has if it can be read."""
        key = f"{self.asked.endpoint} {self.asked.repo}@{self.commit}/{name}"
        kept = None if self.store is None else self.store.get(key)
        if kept is not None:
            with suppress(ValueError, InputError):
                return parsed(kept)
        value = fetched()
        result = parsed(value)
        if self.store is not None:
            self.store.put(key, value)
        return result

    def _file(self, name: str, got: Callable[[], T]) -> T:
        from huggingface_hub.errors import EntryNotFoundError

        try:
            return got()
        except EntryNotFoundError:
            raise FetchError(
                "missing_file", f"{self.asked.repo} lists {name} and does not have it at commit {self.commit[:12]}"
            ) from None

    def _raw(self, name: str) -> tuple[bytes, int]:
        """The file's beginning, up to the end of its header, and the file's size."""
        size = self.sizes.get(name)
        if size is not None and size < LENGTH:
            header_length(b"", name, size)  # raises: there is nothing to ask for
        part = self.ranges.part(self._url(name), 0, self._guess - 1)
        self._require_commit(part, name)
        if size is not None and part.size != size:
            raise self.asked.broken(f"lists {name} with {size:,} bytes and sends it with {part.size:,}")
        end = LENGTH + header_length(part.body, name, part.size)
        with self._lock:
            self._guess = max(self._guess, end)
        if len(part.body) >= end:
            return part.body[:end], part.size
        rest = self.ranges.part(part.url, len(part.body), end - 1)
        if rest.size != part.size:
            raise self.asked.broken(f"sent two parts of {name} that are of different files")
        return part.body + rest.body, part.size

    def _require_commit(self, part: Part, name: str) -> None:
        if part.commit != self.commit:
            raise self.asked.broken(f"gave {name} of another commit than the one asked for")

    def _url(self, name: str) -> str:
        from huggingface_hub import hf_hub_url

        return hf_hub_url(self.asked.repo, name, revision=self.commit)

    def _listed(self) -> dict[str, int | None]:
        url = f"{self.asked.endpoint}/api/models/{self.asked.repo}/revision/{self.commit}"
        body = self.ranges.whole(url, "repo", _MOST_TOLD, blobs="true").body
        with told(self.asked, "repo"):
            answer = json.loads(body)
            if answer["sha"] != self.commit:
                raise self.asked.broken("told of another commit than the one asked for")
            files = {file["rfilename"]: _size(file) for file in answer["siblings"]}
        return {name: size for name, size in files.items() if name == INDEX_FILE or is_safe(name)}


def _size(file: dict[str, Any]) -> int | None:
    size = file.get("size")
    return size if type(size) is int and size >= 0 else None


def _sizes(data: bytes) -> dict[str, int | None]:
    sizes = json.loads(data)
    if not isinstance(sizes, dict) or not all(value is None or type(value) is int for value in sizes.values()):
        raise ValueError("expected sizes by name")
    return sizes
