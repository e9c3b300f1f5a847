"""What the server holds: repositories with commits and branches, who may read them, and the faults to commit."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache


@dataclass(frozen=True)
class Hollow:
    """A file of which only the beginning is more than zeros, for one too large to be held."""

    head: bytes
    size: int

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> bytes:
        first, last, _ = part.indices(self.size)
        return self.head[first:last] + bytes(max(0, last - max(first, len(self.head))))


Data = bytes | Hollow


@dataclass(kw_only=True)
class Repo:
    """One model repository. `stored_apart` names the files that are served from the second host, as LFS files are."""

    id: str
    commits: dict[str, dict[str, Data]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    private: bool = False
    gated: bool = False
    disabled: bool = False
    stored_apart: frozenset[str] = frozenset()

    def push(self, files: Mapping[str, "Data"], ref: str = "main") -> str:
        """A new commit with these files and no others; `ref` moves to it."""
        content = repr((self.id, len(self.commits), sorted(files.items()))).encode()
        commit = hashlib.sha1(content, usedforsecurity=False).hexdigest()
        self.commits[commit] = dict(files)
        self.refs[ref] = commit
        return commit

    def resolve(self, revision: str) -> str | None:
        return revision if revision in self.commits else self.refs.get(revision)


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request as it came in. `host` is `hub` or `cdn`; header names are in lower case."""

    host: str
    method: str
    path: str
    headers: Mapping[str, str]

    @property
    def token(self) -> str | None:
        return self.headers.get("authorization", "").removeprefix("Bearer ") or None


@dataclass(kw_only=True)
class Fault:
    """How to answer the requests whose `METHOD path` the pattern is found in, instead of or on top of the right way.

    `status`, with `headers` and `body`, replaces the answer. `headers` without `status` are added to the right one; an
    empty value takes the header away. `body` without `status` replaces its body. `length` is the Content-Length told.
    `delay` waits before the answer, `drip` before each byte of the body, `cut` closes after so many bytes of the body,
    and `hang_up` before any. `after` is called once the right answer is known, before it is
    sent. `times` is how many requests it lasts, None for
    ever.
    """

    pattern: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    length: int | None = None
    delay: float = 0.0
    drip: float = 0.0
    cut: int | None = None
    hang_up: bool = False
    after: Callable[[], object] | None = None
    times: int | None = None

    def take(self, request: str) -> bool:
        """Whether the fault meets this request; each time that it does counts."""
        if self.times == 0 or not re.search(self.pattern, request):
            return False
        if self.times is not None:
            self.times -= 1
        return True


@lru_cache(maxsize=1024)
def etag(data: Data) -> str:
    content = data if isinstance(data, bytes) else data.head + str(data.size).encode()
    return hashlib.sha256(content).hexdigest()
