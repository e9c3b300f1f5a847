"""On which line of a TOML document a key stands. What parses is found; what is written oddly may not be."""

import re
from collections import Counter
from typing import Final

_HEADER: Final = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY: Final = re.compile(
    r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PART: Final = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")


def lines(text: str) -> dict[str, int]:
    """Headers and keys to their lines, from 1: `targets.a`, `targets.a.tp`, `ignore[0].rule`. The first one counts."""
    found: dict[str, int] = {}
    arrays: Counter[str] = Counter()
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header is not None:
            table = _dotted(header[2])
            if header[1] == "[[":
                arrays[table] += 1
                table = f"{table}[{arrays[table] - 1}]"
            found.setdefault(table, number)
        elif key is not None:
            path = f"{table}.{_dotted(key[1])}" if table else _dotted(key[1])
            found.setdefault(path, number)
    return found


def _dotted(key: str) -> str:
    return ".".join(part.strip("\"'") for part in _PART.findall(key))
