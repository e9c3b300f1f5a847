"""Processes for work that may take long: one that takes too long is stopped, and another one started."""

import asyncio
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from fse_core.errors import FetchError, InputError, OutOfTime
from service.apart import apart
from service.channel import LENGTH, packed
from service.lane import Lane
from service.problems import Problem

T = TypeVar("T")
Heard = Callable[..., Awaitable[Any]]
"""What is done with what work says, and answered to what it asks."""

_HERE: Final = Path(__file__).resolve().parents[1]


class Processes:
    """Started when they are first needed. The time of a piece of work counts from when a process begins with it."""

    def __init__(self, what: str, *, most: int, each: int, seconds: float) -> None:
        running = max(1, most - 1)
        self._lane = Lane(what, most, each=running, waiting=max(0, each - running))
        self._seconds = seconds
        self._idle: list[Process] = []
        self._all: set[Process] = set()

    async def run(self, work: Callable[..., T], *given: Any) -> T:
        """What `work` makes of `given`. InputError, FetchError and OutOfTime as it raises them; Problem where it has to
        be stopped.

        `work` is a function that the process finds by its name.
        """
        return await self._run(work, given, None)

    async def talk(self, heard: Heard, work: Callable[..., T], *given: Any) -> T:
        """The same of work that talks. What `heard` raises stops it, as does whoever stops waiting."""
        return await self._run(work, given, heard)

    async def _run(self, work: Callable[..., T], given: tuple[Any, ...], heard: Heard | None) -> T:
        async with self._lane.place(self._seconds):
            process = await self._one()
            try:
                async with asyncio.timeout(self._seconds):
                    asked = await asyncio.to_thread(packed, (work, given, heard is not None))
                    answer = await _told(process, asked, heard)
            except TimeoutError:
                raise Problem("too-slow", f"not checked within {self._seconds:g} s", retry_after=60) from None
            else:
                self._idle.append(process)
            finally:
                if process not in self._idle:
                    await self._end(process)
        value: T = _value(*answer)
        return value

    async def close(self) -> None:
        await asyncio.gather(*(self._end(process) for process in [*self._all]))

    async def _one(self) -> Process:
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process
            self._all.discard(process)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "service.worker"), stdin=PIPE, stdout=PIPE, cwd=_HERE, start_new_session=True
        )
        self._all.add(process)
        assert process.stdout is not None
        try:
            await process.stdout.readexactly(1)
        except BaseException:
            await self._end(process)
            raise
        return process

    async def _end(self, process: Process) -> None:
        if process.returncode is None:
            process.kill()
        await process.wait()
        self._all.discard(process)


async def _told(process: Process, asked: bytes, heard: Heard | None) -> tuple[Any, ...]:
    """What the work came to; meanwhile it may talk to who listens."""
    assert process.stdin is not None
    process.stdin.write(asked)
    await process.stdin.drain()
    while True:
        kind, *told = await _message(process)
        if kind not in ("say", "ask") or heard is None:
            return kind, *told
        answer = await heard(*told)
        if kind == "ask":
            process.stdin.write(packed(answer))
            await process.stdin.drain()


async def _message(process: Process) -> tuple[Any, ...]:
    assert process.stdout is not None
    size = int.from_bytes(await process.stdout.readexactly(LENGTH), "big")
    body = await process.stdout.readexactly(size)
    message: tuple[Any, ...] = await apart(size, lambda: pickle.loads(body))
    return message


def _value(kind: str, *told: Any) -> Any:
    match kind:
        case "value":
            return told[0]
        case "input":
            raise InputError(*told)
        case "fetch":
            raise FetchError(*told[:2], retry_after=told[2])
        case "time":
            raise OutOfTime(*told)
        case _:
            raise RuntimeError(*told)
