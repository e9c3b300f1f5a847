"""A settings file to Settings. Nothing in it is passed over: what is not known is an error that names it."""

import os
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from typing import Any, Final, get_args

from fse_core.errors import InputError
from fse_core.read.getters import shown
from fse_core.report import Place, Severity
from fse_core.settings import Ignore, Settings
from fse_core.settings.find import Found
from fse_core.settings.lines import lines
from fse_core.settings.table import Table
from fse_core.settings.targets import target

FAIL_ON: Final = ("error", "warning", "info", "never")
_KEYS: Final = ("fail-on", "select", "severity", "targets", "ignore")
_IGNORE_KEYS: Final = ("rule", "reason", "until", "model", "layers", "target")
_PIECE: Final = r"\d{1,6}(?:-\d{1,6}(?: by \d{1,6})?)?"
_LAYERS: Final = re.compile(rf"{_PIECE}(?:, {_PIECE})*")

Resolve = Callable[[str, str], str]
"""A rule's id or name, and what an error is about, to its id."""


def settings(found: Found, resolve: Resolve) -> Settings:
    """What the file says. InputError, with the line, where it says what it may not."""
    top = Table(found.data, "", found.file, _lines(found))
    top.only(_KEYS)
    targets = top.table("targets")
    named = {name: target(targets.table(name)) for name in targets.data}
    return Settings(
        file=found.file,
        folder=os.path.dirname(os.path.abspath(found.file)),
        fail_on=top.one_of("fail-on", FAIL_ON),
        select=tuple(_rule(top, "select", name, resolve) for name in top.strings("select")),
        severity=dict(_severities(top.table("severity"), resolve)),
        targets=named,
        ignores=tuple(_ignores(top, resolve, set(named))),
    )


def _lines(found: Found) -> dict[str, int]:
    """The lines of the keys as they are called below the settings' own table."""
    prefix = f"{found.table}." if found.table else ""
    return {path.removeprefix(prefix): line for path, line in lines(found.text).items() if path.startswith(prefix)}


def _rule(table: Table, key: str, name: str, resolve: Resolve) -> str:
    try:
        return resolve(name, "")
    except InputError as error:
        raise table.error(key, error.message) from None


def _severities(table: Table, resolve: Resolve) -> Iterator[tuple[str, Severity]]:
    for name in table.data:
        severity = table.one_of(name, get_args(Severity))
        yield _rule(table, name, name, resolve), severity


def _ignores(top: Table, resolve: Resolve, targets: set[str]) -> Iterator[Ignore]:
    for number, table in enumerate(top.tables("ignore"), 1):
        table.only(_IGNORE_KEYS)
        layers, named = table.get("layers", str), table.get("target", str)
        if layers is not None and not _LAYERS.fullmatch(layers):
            raise table.error("layers", f"expected layers such as 3-60, or 1, 5-7, got {shown(layers)}")
        if named is not None and named not in targets:
            raise table.error("target", f"no target is called {shown(named)}")
        yield Ignore(
            rule=_rule(table, "rule", table.text("rule"), resolve),
            reason=" ".join(table.text("reason").split()),
            until=_day(table, table.data.get("until")),
            number=number,
            place=Place(file=top.file, line=table.line(), column=1 if table.line() else None),
            model=table.get("model", str),
            layers=layers,
            target=named,
        )


def _day(table: Table, value: Any) -> date:
    """A date of TOML, or one in a string."""
    if value is None:
        raise table.error("", "needs until, the day from which on it no longer holds, such as 2027-03-01")
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    elif isinstance(value, date) and not isinstance(value, datetime):
        return value
    raise table.error("until", f"expected a day such as 2027-03-01, got {shown(value)}")
