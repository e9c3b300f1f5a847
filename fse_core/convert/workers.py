"""Shares shards out to processes. A process that is lost costs its shard's time, and nothing else."""

import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from fse_core.convert.checkpoint import Checkpoint
from fse_core.convert.disk import CannotWrite, Progress, explained
from fse_core.convert.journal import Journal
from fse_core.convert.plan import Shard
from fse_core.convert.shard import Record, write_shard
from fse_core.errors import FseError, InputError

_TRIES: Final = 3
"""How often a shard is begun before the cause is taken to be the shard."""


_MOST_THREADS: Final = 16
"""Each holds a weight's new bytes."""


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
    workers: int,
    device: str,
) -> Mapping[str, Record]:
    """Writes all shards, in this process where one worker is enough."""
    count = min(workers, len(shards))
    if count > 1:
        return _shared_out(checkpoint, shards, journal, progress, lost, count, device)
    records = {}
    # While one shard is brought to the disk, the next is written.
    with ThreadPoolExecutor(1) as finisher:
        before = None
        for shard in shards:
            temporary = journal.temporary(shard.name)
            records[shard.name] = write_shard(checkpoint, shard, temporary, progress, device, _cores())
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
    count: int,
    device: str,
) -> Mapping[str, Record]:
    # Started anew rather than forked: torch's threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    # The largest come first, so that none of them is begun when the others are done.
    threads = max(1, _cores() // count)
    work = _Work(left=sorted(shards, key=lambda shard: shard.size))

    def start() -> _Worker:
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, checkpoint, journal.out, threads, device), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process=process, connection=ours)

    crew = [start() for _ in range(count)]
    try:
        while len(work.records) < len(shards):
            for worker in crew:
                if worker.shard is None and work.left:
                    _give(worker, work.left.pop())
            busy = {worker.connection: worker for worker in crew}
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]
                if not _heard(worker, work, progress):
                    _retry(worker, work, progress, lost)
                    crew.remove(worker)
                    crew.append(start())
    finally:
        for worker in crew:
            worker.process.terminate()
            worker.process.join()
            worker.connection.close()
    return work.records


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


def _serve(connection: Connection, checkpoint: Checkpoint, out: Path, threads: int, device: str) -> None:
    """A worker's life: shard after shard, until the other end is closed."""
    journal = Journal(out)

    def say(kind: str, value: Any) -> None:
        connection.send((kind, value))

    with suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            shard = connection.recv()
            try:
                with explained(journal.out):
                    temporary = journal.temporary(shard.name)
                    record = write_shard(
                        checkpoint, shard, temporary, lambda count: say("written", count), device, threads
                    )
                    journal.finish(shard.name, record)
            except InputError as error:
                say("input", (error.path, error.message))
            except CannotWrite as error:
                say("write", (error.path, error.message))
            else:
                say("done", record)
