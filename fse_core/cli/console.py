"""Standard output and standard error: closed, full, on a terminal or not."""

import contextlib
import os
import sys

from fse_core.cli.statuses import NO_ANSWER, OK
from fse_core.output import Style


def style(color: str) -> Style:
    """How to write, by what standard output is, the environment, and what --color says."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    colored = color == "always" or (color == "auto" and terminal and not plain)
    return Style(width=_width() if terminal else None, color=colored)


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except OSError:
        return 80


def write(text: str) -> int:
    """Writes to standard output. A reader that has gone away is no error; a full disk is one."""
    if sys.stdout is None:
        return OK
    try:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What is still in the buffer would be written, and complained about, once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            complain(f"cannot write the report: {error.strerror}")
            return NO_ANSWER
    return OK


def complain(message: str) -> None:
    """A line on standard error."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"fse: {message}".encode("utf-8", "backslashreplace").decode(), file=sys.stderr, flush=True)
