"""Finds the few lines of a log that matter, as fast as a search for fixed words goes, without looking at the others."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, Protocol

Patterns = Mapping[bytes, tuple[bytes, re.Pattern[bytes]]]

ALWAYS: Final[Patterns] = {
    b"b": (b"a", re.compile(rb"b(?<=Traceb)ack \(most recent call last\)")),
    b"X": (b"P", re.compile(rb"X(?<=SHARED_EX)PERTS")),
    b"{": (b"'", re.compile(rb"\{(?<=default args: \{)'")),
    b"\x88": (b" \x1b", re.compile(rb"\x88(?:\x1b\[0m)?  (?:version|model  ) ")),
}
STARTING: Final[Patterns] = {
    **ALWAYS,
    b"M": (b"o", re.compile(rb"M(?:oE (?:layer|backend)|odel loading took|ori does not)")),
    b"L": (b"Lo", re.compile(rb"L(?:LM (?:engine \(v|(?:API )?server)|oading weights took)")),
    b"Q": (b"u", re.compile(rb"Quantized \d")),
}
"""What marks a line: a byte of it that is rare in what a server prints while it serves, those that may follow it, and
the whole. To look for one byte costs next to nothing. STARTING's are looked for while a server may be starting."""
FREQUENT: Final = 512
"""How often a byte may be in a block before the pattern itself is looked for instead."""
START: Final = 64 << 20
"""So many bytes after the last line that mattered, no server is starting any more."""
TRACEBACK: Final = b"Traceback (most recent call last)"
BLOCK: Final = 256 * 1024
LONGEST: Final = 1 << 20
"""What of a line is looked at."""
PATIENCE: Final = 512 * 1024
"""After how many bytes the end of a traceback is no longer waited for."""


class Readable(Protocol):
    """A binary file, buffered or not."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Fills the buffer, and says how far."""


class Scanner:
    """`size` are the bytes read so far. While `follow` is above 0, every line is given: that many bytes more."""

    def __init__(self, file: Readable) -> None:
        self.file = file
        self.size = 0
        self.follow = 0
        self.last = 0

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Each line that matters, in order, with where it begins; a last one without its end is one, too."""
        buffer = bytearray(BLOCK)
        kept, base = 0, 0
        while True:
            if kept == len(buffer):
                if kept < LONGEST:
                    buffer.extend(bytes(len(buffer)))
                else:  # a line without end: what was read of it counts as one
                    yield from self._among(buffer, base, kept)
                    base, kept = base + kept, 0
            count = self.file.readinto(memoryview(buffer)[kept:]) or 0
            self.size += count
            end = kept + count
            if not count:
                yield from self._among(buffer, base, end)
                return
            whole = buffer.rfind(b"\n", kept, end) + 1
            if not whole:
                kept = end
                continue
            yield from self._among(buffer, base, whole)
            kept = end - whole
            buffer[:kept] = buffer[whole:end]
            base += whole

    def _among(self, buffer: bytearray, base: int, end: int) -> Iterator[tuple[int, bytes]]:
        """The lines that matter of those before `end`."""
        at = 0
        patterns = STARTING if base < self.last + START else ALWAYS
        for start in sorted(set(_marked(buffer, end, patterns))):
            self.last = base + start
            if self.follow > 0:
                yield from self._all(buffer, base, at, start)
            at = _end_of(buffer, start, end)
            yield base + start, bytes(buffer[start:at])
        if self.follow > 0:
            yield from self._all(buffer, base, at, end)

    def _all(self, buffer: bytearray, base: int, at: int, end: int) -> Iterator[tuple[int, bytes]]:
        while at < end and self.follow > 0:
            after = _end_of(buffer, at, end)
            self.follow -= after - at
            yield base + at, bytes(buffer[at:after])
            at = after


def _marked(buffer: bytearray, end: int, patterns: Patterns) -> Iterator[int]:
    """Where the lines begin that are marked."""
    for rare, (following, pattern) in patterns.items():
        at = buffer.find(rare, 0, end - 1)
        for _ in range(FREQUENT):
            if at < 0:
                break
            if buffer[at + 1] in following and pattern.match(buffer, at, end):
                yield buffer.rfind(b"\n", 0, at) + 1
                at = _end_of(buffer, at, end) - 1
            at = buffer.find(rare, at + 1, end - 1)
        if at >= 0:
            yield from _matching(buffer, pattern, at, end)


def _matching(buffer: bytearray, pattern: re.Pattern[bytes], at: int, end: int) -> Iterator[int]:
    match = pattern.search(buffer, at, end)
    while match is not None:
        yield buffer.rfind(b"\n", 0, match.start()) + 1
        match = pattern.search(buffer, _end_of(buffer, match.end(), end), end)


def _end_of(buffer: bytearray, at: int, end: int) -> int:
    """Where the line ends, its line feed included."""
    found = buffer.find(b"\n", at, end)
    return end if found < 0 else found + 1
