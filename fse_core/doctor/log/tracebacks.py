"""Follows tracebacks to the line that names the exception, through the lines of other processes between."""

import re
from typing import Final

from fse_core.doctor.log.line import Line

CUT: Final = "a traceback whose end is missing"
_EXCEPTION: Final = re.compile(r"(?P<name>[A-Za-z_][\w.]*)(?::(?: (?P<why>.*))?)?")
_BETWEEN: Final = ("During handling of", "The above exception", "Traceback (most recent")
_QUIET: Final = ("DEBUG", "INFO", "WARNING")
_MOST: Final = 64
"""Tracebacks that are followed at once."""


class Tracebacks:
    """Those that are open, by their process."""

    def __init__(self) -> None:
        self.open: dict[str, Line] = {}

    def begin(self, line: Line) -> None:
        """A traceback begins. What is only warned of has been dealt with by the release, and is not followed."""
        if line.level not in _QUIET and len(self.open) < _MOST:
            self.open[line.process] = line

    def take(self, line: Line) -> tuple[Line, str] | None:
        """Where the traceback began and its exception, once the line after that has come."""
        process = line.process
        if process not in self.open:
            return None
        text = line.text
        if not text.strip() or text[0] in " \t^|" or text.startswith(_BETWEEN):
            return None
        if _EXCEPTION.match(text) is None:
            return None
        begun = self.open.pop(process)
        return begun, exception(text)

    def rest(self) -> list[tuple[Line, str]]:
        """Those whose end never came."""
        left = [(begun, CUT) for begun in self.open.values()]
        self.open.clear()
        return left


def exception(text: str) -> str:
    """`ValueError: ...` without the modules before the class's name."""
    match = _EXCEPTION.match(text)
    if match is None:
        return text
    name = match["name"].rpartition(".")[2]
    return name if match["why"] is None else f"{name}: {match['why']}"
