"""Every change to the disk: whatever is written is complete and on the disk before it has its name."""

import errno
import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from fse_core.errors import FseError, InputError

CHUNK: Final = 4 * 1024 * 1024
PRIVATE: Final = 0o600
"""The mode of what is the conversion's own while it goes on."""
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Progress = Callable[[int], None]
"""Told how many bytes more are written."""


class CannotWrite(FseError):
    """The output cannot be written; what is there already is kept, and used by the next run."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns what the system says about a failed write to `path` into what to do about it."""
    try:
        yield
    except ConnectionError:  # of a worker whose parent is gone: nothing else here is written to a pipe
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _FULL:
            reason = f"{reason}: make room and run the same command again; it goes on where it stopped"
        raise CannotWrite(str(path), f"cannot be written: {reason}") from None


class Sink:
    """A new file under construction. Another thread follows, reads what the file now holds, and hashes it."""

    def __init__(self, path: Path, progress: Progress, mode: int) -> None:
        self.size = 0
        self._sum = hashlib.sha256()
        self._progress = progress
        self._follower = ThreadPoolExecutor(1)
        self._behind: Future[None] | None = None
        self._buffer = memoryview(bytearray(CHUNK))
        with suppress(FileNotFoundError):
            os.unlink(path)  # what an interrupted run left; never a link's target
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with suppress(PermissionError):  # of a file system that has no modes
            os.fchmod(self._file, mode)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        view = memoryview(data).cast("B")
        place = 0
        while place < len(view):
            place += os.write(self._file, view[place : place + CHUNK])
        self._grown(len(view))

    def take(self, source: int, start: int, count: int) -> int:
        """Has the system copy bytes of an open file, and tells how many it did; OSError where it cannot."""
        if not hasattr(os, "copy_file_range"):
            raise OSError(errno.ENOSYS, "only Linux has the call")
        copied = os.copy_file_range(source, self._file, count, start)
        self._grown(copied)
        return copied

    def _grown(self, count: int) -> None:
        self._follow()  # it is never far behind: what it reads is still in memory
        self._behind = self._follower.submit(self._hash, self.size, self.size + count)
        self.size += count
        self._progress(count)

    def _follow(self) -> None:
        if self._behind is not None:
            self._behind.result()

    def _hash(self, start: int, end: int) -> None:
        while start < end:
            count = os.preadv(self._file, [self._buffer[: end - start]], start)
            if count == 0:
                raise OSError(errno.EIO, "is shorter than what was written")
            self._sum.update(self._buffer[:count])
            start += count

    def close(self) -> str:
        """The file is complete: gives its SHA-256. `publish` brings it to the disk."""
        self._follow()
        self.abandon()
        return self._sum.hexdigest()

    def abandon(self) -> None:
        """Lets go of the file, complete or not."""
        file, self._file = self._file, -1
        if file >= 0:
            self._follower.shutdown()
            os.close(file)


@contextmanager
def sink(path: Path, progress: Progress = lambda _: None, mode: int = PRIVATE) -> Iterator[Sink]:
    """A file to write; the caller closes it when it is complete. Who may read it is what `mode` says from the start."""
    file = Sink(path, progress, mode)
    try:
        yield file
    except BaseException:
        with suppress(OSError):
            file.abandon()
        raise


def write_whole(path: Path, data: bytes, temporary: Path, mode: int = PRIVATE) -> str:
    """Writes a small file at once, and gives its SHA-256."""
    with sink(temporary, mode=mode) as file:
        file.write(data)
        digest = file.close()
    publish(temporary, path)
    return digest


def publish(temporary: Path, path: Path) -> None:
    """Brings a complete file to the disk, and then gives it its name, durably."""
    _sync(temporary)
    os.replace(temporary, path)
    sync_folder(path.parent)


def make_folder(path: Path, mode: int = 0) -> None:
    """Makes a folder where there is none: for others it is no more open than `mode` says. A link is refused."""
    if path.is_symlink():
        raise CannotWrite(str(path), "is a link, which is not written through")
    if not path.is_dir():
        with suppress(FileExistsError):  # another process may have been first
            os.mkdir(path, 0o700 | (mode & 0o777))
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Brings the names in a folder to the disk."""
    _sync(folder)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def link(source: Path, path: Path) -> bool:
    """Gives the file a second name; False where the file system does not, as between two of them."""
    try:
        os.link(source, path)
    except FileExistsError:
        os.unlink(path)
        os.link(source, path)
    except OSError as error:
        if error.errno in _FULL:
            raise
        return False
    return True


@contextmanager
def reading(path: Path, name: str) -> Iterator[int]:
    """A source file that is open for reading; `name` is what errors call it."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise InputError(name, f"cannot be read: {error.strerror}") from None
    try:
        yield file
    finally:
        os.close(file)


def copy_range(source: int, start: int, end: int, file: Sink, name: str) -> None:
    """Copies bytes of an open file: within the system where it can, else through a buffer of a fixed size."""
    try:
        while start < end and (count := file.take(source, start, min(CHUNK, end - start))):
            start += count
    except OSError as error:
        if error.errno in _FULL:
            raise
    _copy_through_buffer(source, start, end, file, name)


def _copy_through_buffer(source: int, start: int, end: int, file: Sink, name: str) -> None:
    buffer = memoryview(bytearray(min(CHUNK, end - start)))
    while start < end:
        try:
            count = os.preadv(source, [buffer[: end - start]], start)
        except OSError as error:
            raise InputError(name, f"cannot be read: {error.strerror}") from None
        if count == 0:
            raise InputError(name, "became shorter while it was read")
        file.write(buffer[:count])
        start += count


def remove_tree(folder: Path, last: str) -> None:
    """Removes a folder of files, `last` after the others. From then on another process may have made a new one there,
    which stays.
    """
    for name in sorted(os.listdir(folder), key=lambda name: (name == last, name)):
        os.unlink(folder / name)
    try:
        os.rmdir(folder)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST):
            raise
