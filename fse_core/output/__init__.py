"""One file a format: each module beside this one is a format of reports and defines `FORMAT`.

What else is written has a folder of its own here, with a module for each of its formats: matrix, diff, releases,
installed, rules, explain.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Literal, TypeVar

from fse_core.ruletext import RuleText

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Run:
    """What there is to tell of a run beside its reports.

    rules: all that can be found, with their texts. unread: the sources of which there is no report, and why.
    fail_on: the least severity that makes the run fail.
    """

    rules: tuple[RuleText, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    fail_on: str = "error"


@dataclass(frozen=True, kw_only=True)
class Style:
    """How it is read: `width` in columns, None where lines may be as long as they are; `color` allows ANSI colours.

    `run` is filled for the formats that need it.
    """

    width: int | None = None
    color: bool = False
    run: Run = Run()


@dataclass(frozen=True, kw_only=True)
class Format(Generic[T]):
    """A way to write reports, or what else there is. `render` gives the whole text, its last line end included.

    needs: what it tells beyond the reports as they are: the `places` of evidence, the `run` they are of. A format that
        needs the run is written even where no source could be read.
    """

    summary: str
    render: Callable[[Sequence[T], Style], str]
    needs: frozenset[Literal["places", "run"]] = frozenset()


def names(what: str = "") -> list[str]:
    """The formats that there are of reports, or of `what`, without loading any."""
    files = os.listdir(os.path.join(os.path.dirname(__file__), what))
    return sorted(name.removesuffix(".py") for name in files if name.endswith(".py") and name != "__init__.py")


def find(name: str, what: str = "") -> Format[Any]:
    """The format called `name`, one of `names(what)`."""
    found: Format[Any] = import_module(".".join(part for part in (__name__, what, name) if part)).FORMAT
    return found
