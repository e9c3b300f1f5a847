"""Keeps a second conversion out of a folder for as long as a process of the first one lives, and no longer."""

import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import reduction
from pathlib import Path
from typing import Any, Final

from fse_core.convert.disk import CannotWrite, make_folder

NAME: Final = "lock"
_LONGEST: Final = 400
_PATIENCE: Final = 2.0
"""Seconds in which what is left of a process that was ended lets go."""
_PAUSE: Final = 0.05


class Lock:
    """A file that is locked. A process that this is handed to when it is started holds the lock as well."""

    def __init__(self, file: int) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Callable[[Any], "Lock"], tuple[Any]]:
        return _handed_on, (reduction.DupFd(self.file),)


def _handed_on(duplicate: Any) -> Lock:
    return Lock(duplicate.detach())


@contextmanager
def locked(folder: Path, out: Path) -> Iterator[Lock]:
    """Holds the lock in `folder`, which is made where there is none.

    CannotWrite where another conversion has it, with the words that it left about itself. `out` is what errors name.
    """
    file = _taken(folder, out)
    try:
        os.ftruncate(file, 0)
        os.pwrite(file, _myself(), 0)
        yield Lock(file)
    finally:
        os.close(file)


def _taken(folder: Path, out: Path) -> int:
    until = time.monotonic() + _PATIENCE
    while True:
        make_folder(folder)
        try:
            file = os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except FileNotFoundError:  # the folder went away with the conversion that had it
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = os.pread(file, _LONGEST, 0).decode("utf-8", "replace").strip()
            os.close(file)
            if time.monotonic() > until:
                raise CannotWrite(str(out), f"another fse convert is writing here: {who or 'it just began'}") from None
            time.sleep(_PAUSE)
            continue
        except BaseException:
            os.close(file)
            raise
        if _is_named(file, folder / NAME):
            return file
        os.close(file)
        if time.monotonic() > until:
            raise CannotWrite(str(out), f"cannot be kept to one conversion: {folder / NAME} is ever another file")


def _is_named(file: int, path: Path) -> bool:
    """Whether the file still has its name, which goes with the conversion that made it."""
    try:
        return os.path.samestat(os.fstat(file), os.lstat(path))
    except FileNotFoundError:
        return False


def _myself() -> bytes:
    since = time.strftime("%Y-%m-%d %H:%M:%S %z")
    return f"process {os.getpid()} on {socket.gethostname()}, since {since}\n".encode()
