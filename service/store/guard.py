"""The store as the rest of the service sees it: one that is away looks empty, and is left alone a while."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from service.logs import log
from service.store.base import Allowance, Entry, Kind, Store, StoreUnavailable
from service.store.windows import Windows

T = TypeVar("T")
Side = Literal["read", "write"]

_PAUSE: Final = 3.0
"""Seconds for which a store that failed is not asked again: longer than it is waited for, so that a request waits for
it once. Twice as long after each further failure."""

_LONGEST: Final = 30.0


@dataclass(kw_only=True)
class _Away:
    """A side that failed, `times` in a row, and is left alone until then (monotonic)."""

    times: int
    until: float


class Guarded:
    """Never raises. Reading and writing fail apart where the store says so: a locked file can still be read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._windows = Windows()
        self._away: dict[Side, _Away] = {}

    async def get(self, kind: Kind, key: str) -> Entry | None:
        return await self._try("read", lambda: self._store.get(kind, key), None)

    async def put(self, kind: Kind, key: str, value: bytes) -> None:
        await self._try("write", lambda: self._store.put(kind, key, value), None)

    async def forget(self, kind: Kind, key: str) -> None:
        await self._try("write", lambda: self._store.forget(kind, key), None)

    async def claim(self, name: str, seconds: float) -> bool:
        return await self._try("write", lambda: self._store.claim(name, seconds), True)

    async def unclaim(self, name: str) -> None:
        await self._try("write", lambda: self._store.unclaim(name), None)

    async def hit(self, client: str, most: int, seconds: int, cost: int = 1) -> Allowance:
        shared = await self._try("write", lambda: self._store.hit(client, most, seconds, cost), None)
        return shared or self._windows.hit(client, most, seconds, cost)

    async def ping(self) -> bool:
        """Whether the store can be written; asked even while it is left alone, which ends where it can."""
        away = self._away.get("write")
        try:
            await self._store.ping()
        except StoreUnavailable as error:
            self._failed("write", away, error)
            return False
        self._works(away)
        return True

    async def close(self) -> None:
        await self._store.close()

    async def _try(self, side: Side, ask: Callable[[], Awaitable[T]], otherwise: T) -> T:
        away = self._away.get(side)
        if away is not None:
            if time.monotonic() < away.until:
                return otherwise
            away.until = time.monotonic() + _PAUSE  # meanwhile nobody else waits for what this one finds
        try:
            answer = await ask()
        except StoreUnavailable as error:
            self._failed(side, away, error)
            return otherwise
        self._works(away)
        return answer

    def _failed(self, side: Side, before: _Away | None, error: StoreUnavailable) -> None:
        """`before` is what was known when the store was asked: of many who asked together, the first counts."""
        if self._away.get(side) is not before:
            return
        if before is None:
            log.error("store unavailable, going on without it", side=side, cause=str(error))
        times = 0 if before is None else before.times + 1
        away = _Away(times=times, until=time.monotonic() + min(_PAUSE * 2**times, _LONGEST))
        self._away[side] = away
        if error.whole:
            self._away = {"read": away, "write": away}

    def _works(self, away: _Away | None) -> None:
        """Both sides where one failure had closed both."""
        sides = [side for side, known in self._away.items() if known is away]
        for side in sides:
            del self._away[side]
            log.info("store available again", side=side)
