"""`table`: for people. The container, the launch command, what the release does with the model, and what a log says."""

from collections.abc import Iterator, Sequence

from fse_core.doctor.result import Diagnosis, Launch, LogReport, Problem
from fse_core.output import Format, Style
from fse_core.output.table import FORMAT as REPORTS
from fse_core.output.words.doctor import (
    log_summary,
    machine_words,
    option_words,
    said_words,
    shown_variables,
    size_words,
    variable_words,
)
from fse_core.output.words.text import Tone, labelled, paint, wrapped

_INDENT = 2
_DEEPER = 6
_TONES: dict[str, Tone] = {"error": "bad", "warning": "warning", "info": "plain"}


def _render(found: Sequence[Diagnosis], style: Style) -> str:
    return "\n\n".join("\n".join(_lines(one, style)) for one in found) + "\n"


def _lines(found: Diagnosis, style: Style) -> Iterator[str]:
    for label, words in machine_words(found):
        yield from labelled(label, words, style, indent=0)
    for variable in shown_variables(found.variables):
        yield from wrapped(variable_words(variable), style, indent=8)
    yield from _problems(found.problems, style)
    if found.launch is not None:
        yield from ("", *_launch(found.launch, style))
    if found.unread is not None:
        yield from ("", *wrapped(f"the model is not judged: {found.unread}", style, tone="warning"))
    if found.report is not None:
        yield from ("", REPORTS.render([found.report], style).rstrip("\n"))
    if found.log is not None:
        yield from ("", *_log(found.log, style))


def _launch(launch: Launch, style: Style) -> Iterator[str]:
    yield from labelled("serves", launch.model or "nothing that is known", style, indent=0)
    for option in launch.options:
        yield from wrapped(option_words(option), style, indent=8, tone="plain" if option.bears else "faint")
    yield from _problems(launch.problems, style)


def _problems(problems: Sequence[Problem], style: Style) -> Iterator[str]:
    for problem in problems:
        yield " " * _INDENT + paint(problem.severity, _TONES[problem.severity], style)
        yield from wrapped(problem.message, style, indent=_DEEPER)


def _log(log: LogReport, style: Style) -> Iterator[str]:
    facts = [size_words(log.size), log.stage]
    if log.version is not None:
        facts.append(f"vLLM {log.version}")
    if log.model is not None:
        facts.append(log.model)
    yield from labelled("log", f"{log.file}: {', '.join(facts)}", style, indent=0)
    for said in log.said:
        yield from wrapped(said_words(said), style, indent=_INDENT)
        yield from wrapped(said.text, style, indent=_DEEPER)
    if log.more:
        yield from wrapped(f"and {log.more} more that are not told apart", style, indent=_INDENT, tone="warning")
    if log.difference is not None:
        yield from wrapped(f"difference: {log.difference}", style, indent=_INDENT, tone="warning")
    words, tone = log_summary(log)
    yield ""
    yield from wrapped(words, style, tone=tone)


FORMAT: Format[Diagnosis] = Format(summary="for people", render=_render)
