"""So many pieces of work of one kind at once, shared fairly by whoever asks for them."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Final

from service.problems import Problem

asking: Final[ContextVar[str]] = ContextVar("asking", default="")
"""The client for which something is done."""


class Lane:
    """Clients take turns at the places. One client holds at most `each` of them, so that others find one, and waits
    with at most `waiting` pieces of work.
    """

    def __init__(self, what: str, places: int, *, each: int, waiting: int) -> None:
        self._what = what
        self._free = places
        self._each = each
        self._most_waiting = waiting
        self._held: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def place(self, seconds: float) -> AsyncIterator[None]:
        """A place while inside; a Problem where none became free in so many seconds, or too many wait for one."""
        who = asking.get()
        await self._enter(who, seconds)
        try:
            yield
        finally:
            self._leave(who)

    async def _enter(self, who: str, seconds: float) -> None:
        if self._free and self._held[who] < self._each:
            self._free -= 1
            self._held[who] += 1
            return
        if len(self._waiting.get(who, ())) >= self._most_waiting:
            raise Problem("rate-limited", f"{self._what}: too many of this client's are under way", retry_after=2)
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append(turn)
        try:
            async with asyncio.timeout(seconds):
                await turn
        except BaseException as error:
            if turn.cancelled():
                self._forget(who, turn)
            else:
                self._leave(who)  # its turn had just come
            if isinstance(error, TimeoutError):
                raise Problem("busy", f"{self._what}: no place became free in time", retry_after=5) from None
            raise

    def _leave(self, who: str) -> None:
        self._held[who] -= 1
        if not self._held[who]:
            del self._held[who]
        if who in self._waiting:
            self._waiting.move_to_end(who)
        for following, queue in self._waiting.items():
            turn = next((turn for turn in queue if not turn.done()), None)
            if turn is not None and self._held[following] < self._each:
                self._held[following] += 1
                self._waiting.move_to_end(following)
                self._forget(following, turn)
                turn.set_result(None)
                return
        self._free += 1

    def _forget(self, who: str, turn: asyncio.Future[None]) -> None:
        queue = self._waiting[who]
        queue.remove(turn)
        if not queue:
            del self._waiting[who]
