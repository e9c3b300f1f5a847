"""One piece of work at a time for each name, however many wait for it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Flights(Generic[T]):
    """Whoever stops waiting does not stop the work, for the others may still wait."""

    def __init__(self) -> None:
        self._under_way: dict[str, asyncio.Task[T]] = {}

    async def join(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        task = self._under_way.get(name)
        if task is None:
            task = asyncio.ensure_future(_run(work))
            self._under_way[name] = task
            task.add_done_callback(lambda done: self._land(name, done))
        return await asyncio.shield(task)

    def _land(self, name: str, task: asyncio.Task[T]) -> None:
        self._under_way.pop(name, None)
        if not task.cancelled():
            task.exception()  # marked as seen: everyone who waited may have left

    async def end(self) -> None:
        """Stops what is under way."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run(work: Callable[[], Awaitable[T]]) -> T:
    return await work()
