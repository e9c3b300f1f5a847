"""Which file holds the settings, and its text."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from fse_core.errors import InputError

OWN: Final = "fse.toml"
SHARED: Final = "pyproject.toml"
_TABLE: Final = "tool.fse"


@dataclass(frozen=True, kw_only=True)
class Found:
    """The file, its text, its settings, and the table that they stand in: `tool.fse`, or none."""

    file: str
    text: str
    table: str
    data: dict[str, Any]


def find(folder: str) -> Found | None:
    """The nearest settings in `folder` or above it. In one folder fse.toml goes before pyproject.toml."""
    for place in _upwards(os.path.abspath(folder)):
        for name in (OWN, SHARED):
            path = os.path.join(place, name)
            if os.path.isfile(path):
                found = read(path)
                if found is not None:
                    return found
    return None


def read(path: str) -> Found | None:
    """What the file says; None where it is a pyproject.toml without our table."""
    shown = _shown(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise InputError(shown, f"cannot be read: {error.strerror or error}") from None
    shared = os.path.basename(path) == SHARED
    if shared and b"fse" not in data:
        return None
    import tomllib  # costs more than all of this package's own imports

    try:
        text = data.decode("utf-8")
        parsed = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise InputError(shown, f"is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(shown, f"is not TOML: {error}") from None
    except RecursionError:
        raise InputError(shown, "is nested too deep") from None
    if not shared:
        return Found(file=shown, text=text, table="", data=parsed)
    tools = parsed.get("tool")
    own = tools.get("fse") if isinstance(tools, dict) else None
    if own is None:
        return None
    if not isinstance(own, dict):
        raise InputError(shown, f"{_TABLE}: expected a table")
    return Found(file=shown, text=text, table=_TABLE, data=own)


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while (above := os.path.dirname(folder)) != folder:
        folder = above
        yield folder


def _shown(path: str) -> str:
    """The path from the working folder, where that is the shorter way to say it."""
    path = os.path.abspath(path)
    try:
        near = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return min(near, path, key=len)
