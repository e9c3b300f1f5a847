"""`github`: workflow commands, which GitHub Actions shows beside the lines that they are about."""

from collections.abc import Iterator, Sequence
from typing import Final

from fse_core.output import Format, Style
from fse_core.output.words.files import relative
from fse_core.output.words.results import Result, results
from fse_core.output.words.text import printable
from fse_core.report import Report, Severity

_COMMANDS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "info": "notice"}


def _render(reports: Sequence[Report], style: Style) -> str:
    unread = [f"::error title=fse::{_data(f'{source}: {words}')}" for source, words in style.run.unread]
    return "".join(f"{line}\n" for line in (*map(_command, results(reports)), *unread))


def _command(result: Result) -> str:
    properties = ",".join(f"{name}={_property(value)}" for name, value in _properties(result))
    about = "" if result.places and relative(result.places[0]) else f"{result.report.source.id}: "
    text = "\n".join(printable(line) for line in (f"{about}{result.message}", *result.lines[1:]))
    return f"::{_COMMANDS[result.severity]} {properties}::{_data(text)}"


def _properties(result: Result) -> Iterator[tuple[str, str]]:
    for place in result.places[:1]:
        path = relative(place)
        if path is not None:
            yield "file", path
            yield from ((name, str(number)) for name, number in (("line", place.line), ("col", place.column)) if number)
    yield "title", result.title


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMAT: Format[Report] = Format(
    summary="workflow commands for GitHub Actions", render=_render, needs=frozenset({"places", "run"})
)
