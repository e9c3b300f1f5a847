"""Processes for work that may take long: one that takes too long is stopped, and another one started."""

import asyncio
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from fse_core.errors import InputError, OutOfTime
from service.apart import apart
from service.lane import Lane
from service.problems import Problem
from service.worker import LENGTH, packed

T = TypeVar("T")

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
        """What `work` makes of `given`. InputError and OutOfTime as it raises them; Problem where it has to be stopped.

        `work` is a function that the process finds by its name.
        """
        async with self._lane.place(self._seconds):
            process = await self._one()
            try:
                async with asyncio.timeout(self._seconds):
                    answer = await _told(process, await asyncio.to_thread(packed, (work, given)))
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


async def _told(process: Process, asked: bytes) -> tuple[Any, ...]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(asked)
    await process.stdin.drain()
    size = int.from_bytes(await process.stdout.readexactly(LENGTH), "big")
    body = await process.stdout.readexactly(size)
    answer: tuple[Any, ...] = await apart(size, lambda: pickle.loads(body))
    return answer


def _value(kind: str, *told: Any) -> Any:
    match kind:
        case "value":
            return told[0]
        case "input":
            raise InputError(*told)
        case "time":
            raise OutOfTime(*told)
        case _:
            raise RuntimeError(*told)
