"""One file a format: each module beside this one is a format and defines `FORMAT`."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from fse_core.report import Report


@dataclass(frozen=True, kw_only=True)
class Style:
    """How it is read: `width` in columns, None where lines may be as long as they are; `color` allows ANSI colours."""

    width: int | None = None
    color: bool = False


@dataclass(frozen=True, kw_only=True)
class Format:
    """A way to write reports. `render` gives the whole text, its last line end included."""

    summary: str
    render: Callable[[Sequence[Report], Style], str]


def names() -> list[str]:
    """The formats that there are, without loading any."""
    files = os.listdir(os.path.dirname(__file__))
    return sorted(name.removesuffix(".py") for name in files if name.endswith(".py") and name != "__init__.py")


def find(name: str) -> Format:
    """The format called `name`, one of `names()`."""
    found: Format = import_module(f"{__name__}.{name}").FORMAT
    return found
