"""What the service keeps: bytes by kind and key, and who is fetching what. Two backends, one interface."""

from dataclasses import dataclass
from typing import Literal, Protocol

Kind = Literal["files", "header", "report", "progress", "branch", "refusal"]
"""files: the raw facts of (repo, commit). header: that of a safetensors file of (repo, commit). report: the JSON of
(commit, target, engine). progress: how far a worker is with reading headers. branch: the commit that a revision stood
for. refusal: why the Hub gave nothing."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A stored value and when it was stored (Unix time)."""

    value: bytes
    stored: float


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """What a client may still do in this window, and the seconds until the next one. Below zero it did too much."""

    left: int
    reset: float


class Store(Protocol):
    """Raises StoreUnavailable where the backend cannot answer (locked, full, gone): the caller goes on without it."""

    async def get(self, kind: Kind, key: str) -> Entry | None: ...

    async def put(self, kind: Kind, key: str, value: bytes) -> None: ...

    async def forget(self, kind: Kind, key: str) -> None: ...

    async def claim(self, name: str, seconds: float) -> bool:
        """Whether the caller, of all workers and replicas, may do `name` now; the claim ends by itself."""
        ...

    async def unclaim(self, name: str) -> None:
        """Ends a claim of this process; a claim of another one stays."""
        ...

    async def hit(self, client: str, most: int, seconds: int, cost: int = 1) -> Allowance:
        """Counts `cost` requests of `client`, of which it may make `most` in a window of so many seconds."""
        ...

    async def ping(self) -> None:
        """Raises StoreUnavailable unless something can be written."""
        ...

    async def close(self) -> None: ...


class StoreUnavailable(Exception):
    """The backend cannot answer now. `whole`: it would not answer anything else, either."""

    def __init__(self, message: str, *, whole: bool = False) -> None:
        super().__init__(message)
        self.whole = whole
