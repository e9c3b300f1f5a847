"""Headers that are read in the background: once for all who wait for the same answer, and no longer than one does."""

import asyncio
import functools
import json
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from fse_core.errors import FetchError, FseError, InputError, OutOfTime
from fse_core.read.hub import HubFiles
from service import reading
from service.lane import asking
from service.problems import Problem
from service.processes import Processes
from service.questions import Headed
from service.settings import Settings
from service.store.guard import Guarded

State = Literal["waiting", "reading", "checking"]

_HOUR: Final = 3600
_GRACE: Final = 15.0
"""Seconds beyond those that the Hub has, for the check that follows."""

_LINGER: Final = 15.0
"""Seconds after which somebody who asked how far it is, and did not wait, counts as gone."""

_BEGINNING: Final = 2.0
"""Seconds that who began it has to begin waiting."""

_LOOK_EVERY: Final = 0.5
_TOLD_EVERY: Final = 1.0
_SILENCE: Final = 5.0
"""Seconds after which another worker that says nothing of a reading is taken for dead."""

_REMEMBERED: Final = 10.0
"""Seconds for which it is remembered what came of it, for those who look now and then."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a reading is: files done of how many (None: not known yet), and bytes that came from the Hub."""

    state: State = "waiting"
    files: int = 0
    of: int | None = None
    received: int = 0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came of it: the report, and the headers as a page shows them."""

    report: bytes
    stored: bytes


class Reading:
    """One that is under way, or was a moment ago. `client` began it, and has to answer for what it costs."""

    def __init__(self, client: str = "") -> None:
        self.client = client
        self.progress = Progress()
        self._waiting = 0
        self._asked = time.monotonic() - _LINGER + _BEGINNING
        self.task: asyncio.Task[Answer]

    @property
    def stopped(self) -> bool:
        return self.task.cancelled() or self.task.cancelling() > 0

    @property
    def limited(self) -> bool:
        """Whether it ended because its client had too much."""
        if not self.task.done() or self.task.cancelled():
            return False
        error = self.task.exception()
        return isinstance(error, Problem) and error.name == "rate-limited"

    @property
    def wanted(self) -> bool:
        """Whether somebody waits for it, or asked a moment ago."""
        return self._waiting > 0 or time.monotonic() - self._asked < _LINGER

    def look(self) -> None:
        """Somebody asks how far it is, and will ask again."""
        self._asked = time.monotonic()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Somebody waits for it inside."""
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def answer(self, seconds: float | None = None) -> Answer | None:
        """What came of it; None where that takes longer than so many seconds. Raises what the reading raised."""
        await asyncio.wait({self.task}, timeout=seconds)
        if not self.task.done():
            return None
        if self.task.cancelled():
            raise Problem("not-ready", "the reading of headers was stopped", retry_after=5)
        if self.limited and asking.get() != self.client:
            raise Problem("busy", "who began the reading of headers had too much", retry_after=1)
        return self.task.result()


class Readings:
    """A client has so many readings running or waiting, and so many bytes an hour. With a token, nothing is shared."""

    def __init__(self, store: Guarded, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._lease = settings.headers_seconds + _GRACE
        self._under_way: dict[str, Reading] = {}
        self._alone: set[Reading] = set()
        self._processes = Processes(
            "readings of headers", most=settings.headers_most, each=settings.headers_each, seconds=self._lease
        )

    async def join(self, key: str, files: HubFiles, question: Headed, token: str | None = None) -> Reading:
        """The reading for this answer, begun if nobody has. Problem where the client has read too much."""
        client = asking.get()
        if not token and (known := self._usable(key, client)) is not None:
            return known
        await self._charge(client, 0)
        found = Reading(client)
        if token:
            self._begin(found, lambda: self._read(found, files, question, token))
            self._alone.add(found)
            found.task.add_done_callback(lambda _: self._alone.discard(found))
            return found
        if (known := self._usable(key, client)) is not None:  # begun while this one's bytes were counted
            return known
        self._under_way[key] = found
        self._begin(found, lambda: self._claimed(found, key, files, question))
        loop = asyncio.get_running_loop()
        found.task.add_done_callback(lambda _: loop.call_later(_REMEMBERED, self._forget, key, found))
        return found

    async def known(self, key: str) -> Answer | None:
        """What was read before."""
        entry = await self._store.get("report", key)
        return None if entry is None else _unpacked(entry.value)

    async def close(self) -> None:
        tasks = [one.task for one in (*self._under_way.values(), *self._alone)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._processes.close()

    def _usable(self, key: str, client: str) -> Reading | None:
        """The reading that this client may join."""
        found = self._under_way.get(key)
        if found is None or found.stopped or (found.limited and found.client != client):
            return None
        return found

    def _begin(self, found: Reading, work: Callable[[], Coroutine[Any, Any, Answer]]) -> None:
        found.task = asyncio.ensure_future(work())
        watch = asyncio.ensure_future(_watched(found))
        found.task.add_done_callback(functools.partial(_over, watch))

    def _forget(self, key: str, found: Reading) -> None:
        if self._under_way.get(key) is found:
            del self._under_way[key]

    async def _claimed(self, found: Reading, key: str, files: HubFiles, question: Headed) -> Answer:
        """By one worker, while the others wait for what it stores, and tell what it says of its progress."""
        name, heard = f"headers:{key}", time.monotonic()
        while not await self._store.claim(name, 2 * self._lease):  # once to wait for a place, and once to read
            await asyncio.sleep(_LOOK_EVERY)
            answer = await self.known(key)
            if answer is not None:
                return answer
            entry = await self._store.get("progress", key)
            if entry is not None and time.time() - entry.stored < _SILENCE:
                found.progress, heard = Progress(**json.loads(entry.value)), time.monotonic()
            if time.monotonic() - heard > _SILENCE:
                break
        found.progress = Progress()
        telling = asyncio.ensure_future(self._telling(found, key))
        try:
            answer = await self.known(key)
            if answer is None:
                answer = await self._read(found, files, question, None)
                await self._store.put("report", key, _packed(answer))
            return answer
        finally:
            telling.cancel()
            await asyncio.shield(self._store.unclaim(name))

    async def _telling(self, found: Reading, key: str) -> None:
        """Tells the other workers how far it is, and that it goes on."""
        while True:
            await self._store.put("progress", key, json.dumps(vars(found.progress)).encode())
            await asyncio.sleep(_TOLD_EVERY)

    async def _read(self, found: Reading, files: HubFiles, question: Headed, token: str | None) -> Answer:
        """In a process. What a token opens is not kept."""

        async def heard(kind: str, *told: Any) -> bytes | None:
            match kind:
                case "get":
                    entry = await self._store.get("header", told[0])
                    return None if entry is None else entry.value
                case "put":
                    await self._store.put("header", *told)
                case _:
                    state, done, of, received = told
                    await self._charge(found.client, received - found.progress.received)
                    found.progress = Progress(state=state, files=done, of=of, received=received)
            return None

        seconds = self._settings.headers_seconds
        report, stored = await self._processes.talk(heard, reading.read, files, question, token, seconds)
        return Answer(report=report, stored=stored)

    async def _charge(self, client: str, received: int) -> None:
        """Counts what the client has had read. Problem where that is too much."""
        most = self._settings.headers_bytes
        if most <= 0:
            return
        allowance = await self._store.hit(f"headers {client}", most, _HOUR, received)
        if allowance.left < 0:
            detail = f"more than {most // 1024**2} MiB of headers in an hour"
            raise Problem("rate-limited", detail, retry_after=allowance.reset)


async def _watched(found: Reading) -> None:
    """Stops the reading once nobody waits for it."""
    while found.wanted:
        await asyncio.sleep(_LOOK_EVERY)
    found.task.cancel()


def _over(watch: asyncio.Task[None], task: asyncio.Task[Answer]) -> None:
    watch.cancel()
    if not task.cancelled():
        task.exception()  # marked as seen: everyone who waited may have left


def of_headers(error: FseError, model: str) -> FseError | Problem:
    """The error as it is told: what is wrong with the files is no fault of the config."""
    if isinstance(error, InputError):
        return Problem("unreadable-headers", f"{model}: {error.message}", path=error.path)
    if isinstance(error, FetchError) and error.kind in ("too_large", "missing_file"):
        return Problem("unreadable-headers", error.message, path="")
    if isinstance(error, OutOfTime):
        return Problem("too-slow", error.reason, retry_after=60)
    return error


def _packed(answer: Answer) -> bytes:
    return len(answer.report).to_bytes(8, "big") + answer.report + answer.stored


def _unpacked(value: bytes) -> Answer:
    end = 8 + int.from_bytes(value[:8], "big")
    return Answer(report=value[8:end], stored=value[end:])
