"""Text for a terminal: what is safe to print, how it wraps, how it is coloured."""

import textwrap
from typing import Literal

from fse_core.output import Style

Tone = Literal["plain", "strong", "faint", "good", "warning", "bad"]
_CODES: dict[Tone, str] = {"strong": "1", "faint": "2", "good": "32", "warning": "33", "bad": "31"}


def printable(text: str) -> str:
    """`text` with everything escaped that could move the cursor or end the line: a config is somebody else's."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def paint(text: str, tone: Tone, style: Style) -> str:
    """`text` in a colour, where colours are wanted."""
    if not style.color or tone == "plain":
        return text
    return f"\x1b[{_CODES[tone]}m{text}\x1b[0m"


def wrapped(text: str, style: Style, *, indent: int = 0, tone: Tone = "plain") -> list[str]:
    """Lines of `text`, all indented; one line where the width is not limited. No word is cut: names stay whole."""
    lead = " " * indent
    text = printable(text)
    if style.width is None:
        return [lead + paint(text, tone, style)]
    room = max(style.width - indent, 20)
    lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    return [lead + paint(line, tone, style) for line in lines]


def labelled(label: str, text: str, style: Style, *, indent: int, column: int = 8) -> list[str]:
    """`label  text`, the text in a column of its own."""
    first, *rest = wrapped(text, style, indent=indent + column)
    return [" " * indent + paint(f"{label:<{column}}", "faint", style) + first[indent + column :], *rest]
