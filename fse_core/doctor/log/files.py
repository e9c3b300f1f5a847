"""Opens logs: a file, one that is compressed with gzip, or standard input."""

import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Final

from fse_core.doctor.log.scan import Readable
from fse_core.errors import InputError

STDIN: Final = "-"
_MAGIC: Final = b"\x1f\x8b"
_GZIP: Final = 31
"""What zlib is told to expect gzip's own header and check sum."""
_BLOCK: Final = 64 * 1024


class _Raw(io.RawIOBase):
    """Any binary file, to be buffered."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        data = self.file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _Inflated:
    """What is compressed in a file. One that ends too early or is damaged is `broken`, and gives what is left."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.member = zlib.decompressobj(_GZIP)
        self.packed = b""
        self.over = False
        self.begun = False
        self.broken = False

    def readinto(self, buffer: memoryview, /) -> int:
        """At least a byte where there is one."""
        while not self.over:
            if self.member.eof:  # another may follow, as where logs were put together
                self.packed = self.member.unused_data.lstrip(b"\0") or self.file.read(_BLOCK)
                self.member = zlib.decompressobj(_GZIP)
                self.begun = False
            else:
                self.packed = self.packed or self.file.read(_BLOCK)
            if not self.packed:
                self.broken = self.begun
                break
            self.begun = True
            try:
                data = self.member.decompress(self.packed, len(buffer))
            except zlib.error:
                self.broken = True
                break
            self.packed = self.member.unconsumed_tail
            if data:
                buffer[: len(data)] = data
                return len(data)
        self.over = True
        return 0


@contextmanager
def opened(name: str, option: str) -> Iterator[Readable]:
    """The log that `name` names. InputError about `option` where it cannot be opened or read."""
    try:
        if name == STDIN:
            yield _plain(sys.stdin.buffer)
            return
        with open(name, "rb") as file:
            yield _plain(file)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or error
        raise InputError(option, f"cannot read {'standard input' if name == STDIN else name}: {what}") from None


def _plain(file: IO[bytes]) -> Readable:
    """The file itself, or what is compressed in it."""
    buffered = file if isinstance(file, io.BufferedReader) else io.BufferedReader(_Raw(file))
    return _Inflated(buffered) if buffered.peek(2)[:2] == _MAGIC else buffered
