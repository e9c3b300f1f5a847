"""Shares shards out to processes. A process that is lost costs its shard's time, and nothing else."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from fse_core.convert.checkpoint import Checkpoint
from fse_core.convert.disk import CannotWrite, Progress, explained
from fse_core.convert.journal import Journal
from fse_core.convert.lock import Lock
from fse_core.convert.plan import Shard
from fse_core.convert.shard import Record, write_shard
from fse_core.errors import FseError, InputError

_TRIES: Final = 3
"""How often a shard is begun before the cause is taken to be the shard."""


_MOST_THREADS: Final = 16
"""Each holds a weight's new bytes."""


@dataclass(frozen=True, kw_only=True)
class Crew:
    """Who writes: so many processes, on a device (`auto`, `cpu`, `cuda`). Each holds the folder's lock."""

    size: int
    device: str
    lock: Lock


@dataclass(frozen=True, kw_only=True)
class Lost:
    """A process that ended while it wrote a shard; `again` tells whether another takes the shard."""

    shard: str
    exit_code: int | None
    again: bool


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    connection: Connection
    shard: Shard | None = None
    written: int = 0


@dataclass
class _Work:
    left: list[Shard]
    tries: dict[str, int] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)


def write_shards(
    checkpoint: Checkpoint,
    shards: Sequence[Shard],
    journal: Journal,
    progress: Progress,
    lost: Callable[[Lost], None],
    crew: Crew,
) -> Mapping[str, Record]:
    """Writes all shards, in this process where one worker is enough."""
    count = min(crew.size, len(shards))
    if count > 1:
        return _shared_out(checkpoint, shards, journal, progress, lost, replace(crew, size=count))
    records = {}
    # While one shard is brought to the disk, the next is written.
    with ThreadPoolExecutor(1) as finisher:
        before = None
        for shard in shards:
            temporary = journal.temporary(shard.name)
            records[shard.name] = write_shard(checkpoint, shard, temporary, progress, crew.device, _cores())
            if before is not None:
                before.result()
            before = finisher.submit(journal.finish, shard.name, records[shard.name])
    if before is not None:
        before.result()
    return records


def _cores() -> int:
    return min(len(os.sched_getaffinity(0)), _MOST_THREADS)


def _shared_out(
    checkpoint: Checkpoint,
    shards: Sequence[Shard],
    journal: Journal,
    progress: Progress,
    lost: Callable[[Lost], None],
    crew: Crew,
) -> Mapping[str, Record]:
    # Started anew rather than forked: torch's threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    resource_tracker.ensure_running()  # which the first start would do, and let signals through again
    threads = max(1, _cores() // crew.size)
    # The largest come first, so that none of them is begun when the others are done.
    work = _Work(left=sorted(shards, key=lambda shard: shard.size))

    def start() -> _Worker:
        ours, theirs = context.Pipe()
        given = (theirs, checkpoint, journal.out, threads, crew)
        process = context.Process(target=_serve, args=given, daemon=True)
        with _interrupted_later():
            process.start()
        theirs.close()
        return _Worker(process=process, connection=ours)

    members: list[_Worker] = []
    try:
        while len(work.records) < len(shards):
            while len(members) < crew.size:
                members.append(start())
            for worker in members:
                if worker.shard is None and work.left:
                    _give(worker, work.left.pop())
            busy = {worker.connection: worker for worker in members}
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]
                if not _heard(worker, work, progress):
                    _retry(worker, work, progress, lost)
                    members.remove(worker)
    finally:
        for worker in members:
            worker.process.terminate()
        for worker in members:
            worker.process.join()
            worker.connection.close()
    return work.records


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """Ctrl-C waits until this ends. A process that is started meanwhile never hears of it: it is for this one to end
    it, and to say what is to be said.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _give(worker: _Worker, shard: Shard) -> None:
    worker.shard, worker.written = shard, 0
    with suppress(OSError):  # it is gone, which reading from it tells
        worker.connection.send(shard)


def _heard(worker: _Worker, work: _Work, progress: Progress) -> bool:
    """Takes one message; False where the worker is gone."""
    try:
        kind, value = worker.connection.recv()
    except (EOFError, OSError):
        return False
    if kind == "written":
        worker.written += value
        progress(value)
    elif kind == "done":
        assert worker.shard is not None
        work.records[worker.shard.name] = value
        worker.shard = None
    else:
        raise _ERRORS[kind](*value)
    return True


def _retry(worker: _Worker, work: _Work, progress: Progress, lost: Callable[[Lost], None]) -> None:
    worker.process.join()
    worker.connection.close()
    shard = worker.shard
    if shard is None:
        return
    progress(-worker.written)
    tries = work.tries[shard.name] = work.tries.get(shard.name, 1) + 1
    again = tries <= _TRIES
    lost(Lost(shard=shard.name, exit_code=worker.process.exitcode, again=again))
    if not again:
        raise CannotWrite(
            shard.name,
            f"{_TRIES} processes were lost while they wrote it, the last with exit code {worker.process.exitcode}; "
            "with fewer --workers each has more memory",
        )
    work.left.append(shard)


_ERRORS: Final[Mapping[str, Callable[[str, str], FseError]]] = {"input": InputError, "write": CannotWrite}


def _serve(connection: Connection, checkpoint: Checkpoint, out: Path, threads: int, crew: Crew) -> None:
    """A worker's life: shard after shard, until the other end is closed. `crew` has it hold the lock that long."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    journal = Journal(out)

    def say(kind: str, value: Any) -> None:
        connection.send((kind, value))

    with suppress(EOFError, ConnectionError):
        while True:
            shard = connection.recv()
            try:
                with explained(journal.out):
                    temporary = journal.temporary(shard.name)
                    record = write_shard(
                        checkpoint, shard, temporary, lambda count: say("written", count), crew.device, threads
                    )
                    journal.finish(shard.name, record)
            except InputError as error:
                say("input", (error.path, error.message))
            except CannotWrite as error:
                say("write", (error.path, error.message))
            else:
                say("done", record)


def _end_with_parent() -> None:
    """Nothing is to be written for a process that is gone, in whatever way it went."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
