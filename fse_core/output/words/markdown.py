"""Markdown that says what it is told to, whatever a config holds."""

import re
from collections.abc import Iterable, Sequence

from fse_core.output.words.text import printable

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~&])")


def plain(text: str) -> str:
    """Words of ours or somebody else's, none of which is markup."""
    return _SPECIAL.sub(r"\\\1", printable(text.replace("\n", " ")))


def code(text: str) -> str:
    """Exact words. A fence is longer than any run of backticks in them; a `|` would end a table's cell."""
    shown = printable(text.replace("\n", " "))
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}".replace("|", r"\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of cells that are Markdown already."""
    lines = (f"| {' | '.join(row)} |" for row in rows)
    return [f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |", *lines]
