"""Where a check's reports are written, and how: each --format may be followed by the --output it goes to."""

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from fse_core.cli.console import complain, style, write
from fse_core.cli.statuses import NO_ANSWER, OK
from fse_core.cli.usage import Usage
from fse_core.output import Format, Run, Style, find, names
from fse_core.report import Report

_DEFAULT: Final = "table"


@dataclass(kw_only=True)
class Output:
    """A format and the file that it goes to, None for standard output."""

    format: str
    file: str | None = None


class _Format(argparse.Action):
    """Begins an output."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, value: Any, option_string: Any = None) -> None:
        namespace.outputs = [*(getattr(namespace, "outputs", None) or []), Output(format=value)]


class _File(argparse.Action):
    """Says where the output that was begun last goes."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, value: Any, option_string: Any = None) -> None:
        outputs = getattr(namespace, "outputs", None) or []
        if not outputs or outputs[-1].file is not None:
            parser.error(f"{option_string} {value}: expected the --format that goes there before it")
        outputs[-1].file = value


def add_outputs(group: argparse._ArgumentGroup) -> None:
    """The options."""
    group.add_argument(
        "-f",
        "--format",
        dest="outputs",
        action=_Format,
        choices=names(),
        help=f"may be repeated, each with its own --output (default: {_DEFAULT})",
    )
    group.add_argument(
        "-o",
        "--output",
        dest="outputs",
        action=_File,
        metavar="FILE",
        help="where the --format before it goes (default: standard output, which takes one)",
    )


def outputs(args: argparse.Namespace) -> list[Output]:
    """What is asked for. Usage where two outputs would go to one place."""
    asked: list[Output] = args.outputs or [Output(format=_DEFAULT)]
    places = [None if one.file is None else os.path.abspath(one.file) for one in asked]
    for place in places:
        if places.count(place) > 1:
            raise Usage(f"two formats for {'standard output; give one an --output' if place is None else place}")
    return asked


def needed(asked: Sequence[Output]) -> frozenset[str]:
    """All that the formats need."""
    return frozenset(need for one in asked for need in find(one.format).needs)


def write_all(asked: Sequence[Output], reports: Sequence[Report], color: str, run: Callable[[], Run]) -> int:
    """Writes the reports in every format, files first. OK, or NO_ANSWER where one could not be written."""
    status, told = OK, Style()
    if "run" in needed(asked):
        told = replace(told, run=run())
    for one in sorted(asked, key=lambda one: one.file is None):
        made: Format[Report] = find(one.format)
        if not reports and "run" not in made.needs:
            continue
        if one.file is None:
            status = write(made.render(reports, replace(style(color), run=told.run))) or status
        else:
            status = _save(made.render(reports, told), one.file) or status
    return status


def _save(text: str, file: str) -> int:
    try:
        with open(file, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as opened:
            opened.write(text)
    except (OSError, ValueError) as error:
        complain(f"cannot write {file}: {getattr(error, 'strerror', None) or error}")
        return NO_ANSWER
    return OK
