"""The store as the rest of the service sees it: one that is away looks empty, and is left alone a while."""

import time
from collections.abc import Awaitable, Callable
from typing import Final, Literal, TypeVar

from service.logs import log
from service.store.base import Allowance, Entry, Kind, Store, StoreUnavailable
from service.store.windows import Windows

T = TypeVar("T")
Side = Literal["read", "write"]

_PAUSE: Final = 1.0
"""Seconds for which a store that failed is not asked again, so that no request waits for it in vain."""


class Guarded:
    """Never raises. Reading and writing fail apart: a locked file can still be read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._windows = Windows()
        self._asleep: dict[str, float] = {}

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

    async def ping(self) -> str | None:
        """Why the store cannot be used, None where it can."""
        try:
            await self._store.ping()
        except StoreUnavailable as error:
            return str(error)
        return None

    async def close(self) -> None:
        await self._store.close()

    async def _try(self, side: Side, ask: Callable[[], Awaitable[T]], otherwise: T) -> T:
        asleep = self._asleep.get(side)
        if asleep is not None and time.monotonic() < asleep:
            return otherwise
        try:
            answer = await ask()
        except StoreUnavailable as error:
            if asleep is None:
                log.error("store unavailable, going on without it", side=side, cause=str(error))
            self._asleep[side] = time.monotonic() + _PAUSE
            return otherwise
        if asleep is not None and self._asleep.pop(side, None) is not None:
            log.info("store available again", side=side)
        return answer
