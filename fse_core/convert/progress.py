"""How far a long run has come: bytes, speed and time left, on a terminal alone."""

import sys
import time
from typing import Final

from fse_core.convert.workers import Lost

_EVERY: Final = 0.2
_UNITS: Final = ("B", "kB", "MB", "GB", "TB")


class Bar:
    """One line on standard error that is written over, nothing where that is no terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr is not None and sys.stderr.isatty()
        self._total = self._done = 0
        self._start = self._last = time.monotonic()

    def begin(self, total: int) -> None:
        self._total, self._start = total, time.monotonic()

    def advance(self, count: int) -> None:
        self._done += count
        self._total = max(self._total, self._done)  # a file that was to be linked, and had to be copied
        now = time.monotonic()
        if self._shown and now - self._last >= _EVERY:
            self._last = now
            self._write(self._line(now - self._start))

    def lost(self, what: Lost) -> None:
        """A lost process is told wherever standard error goes."""
        self.end()
        if sys.stderr is not None:
            then = "another process takes its shard" if what.again else "its shard is given up"
            print(f"fse: a process ended with exit code {what.exit_code} in {what.shard}; {then}", file=sys.stderr)

    def end(self) -> None:
        """Clears the line."""
        if self._shown:
            self._write("")

    def _line(self, seconds: float) -> str:
        speed = self._done / seconds if seconds else 0.0
        left = (self._total - self._done) / speed if speed > 0 else 0.0
        share = 100 * self._done // self._total if self._total else 100
        return (
            f"{share:3d} %  {amount(self._done)} of {amount(self._total)}  {amount(int(speed))}/s  {_clock(left)} left"
        )

    @staticmethod
    def _write(line: str) -> None:
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def amount(count: int) -> str:
    """A number of bytes for people."""
    value, unit = float(count), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{count} B" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"
