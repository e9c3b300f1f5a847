"""The stores that the same tests run on."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from service.store.sqlite import SqliteStore

T = TypeVar("T")

MOST = 2 * 1024**3


@asynccontextmanager
async def sqlite(path: Path, most: int = MOST) -> AsyncIterator[SqliteStore]:
    """A store on that file, closed afterwards."""
    store = SqliteStore(path, most)
    try:
        yield store
    finally:
        await store.close()


def on_sqlite(path: Path, work: Callable[[SqliteStore], Awaitable[T]], most: int = MOST) -> T:
    """What `work` makes of such a store."""

    async def run() -> T:
        async with sqlite(path, most) as store:
            return await work(store)

    return asyncio.run(run())
