"""`junit`: a suite for each source and target, a case for each rule. What makes the exit status 1 is a failure."""

from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from fse_core.output import Format, Run, Style
from fse_core.output.words.results import Result, results
from fse_core.output.words.source import source_words
from fse_core.output.words.summary import summary, target_words
from fse_core.output.words.text import printable
from fse_core.report import BREAKING, Report

_ORDER: Final = ("info", "warning", "error", "never")
_DECIDED: Final = "FSE001"
_UNDECIDED: Final = "FSE002"


def _render(reports: Sequence[Report], style: Style) -> str:
    suites = [_suite(report, style.run) for report in reports]
    suites += [_unread(source, words) for source, words in style.run.unread]
    lines = [line for suite in suites for line in suite]
    return "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="fse">', *lines, "</testsuites>", ""))


def _suite(report: Report, run: Run) -> list[str]:
    found: dict[str, list[Result]] = {}
    for result in results([report]):
        found.setdefault(result.rule, []).append(result)
    names = {rule.id: rule.name for rule in run.rules} | {rule: own[0].name for rule, own in found.items()}
    names.pop(_UNDECIDED, None)  # it is told as an error in the case of the start
    source = source_words(report.source)
    cases = [
        list(_case(source, f"{rule} {name}", _said(report, rule, found, run))) for rule, name in sorted(names.items())
    ]
    return _wrapped(f"{source} ({target_words(report.target)})", cases, summary(report)[0])


def _said(report: Report, rule: str, found: dict[str, list[Result]], run: Run) -> tuple[str, str, str] | None:
    """The element of a case, its message and its text; None where nothing is to be said."""
    if rule == _DECIDED and report.verdict == "undecided":
        return "error", "undecided", str(report.undecided_reason)
    own = found.get(rule)
    if own is None:
        return None
    text = "\n".join(line for result in own for line in (f"{result.severity}: {result.title}", *result.lines))
    least = _ORDER.index(run.fail_on)
    fails = rule == _DECIDED or any(
        _ORDER.index(result.severity) >= least or (report.verdict == "breaks" and result.consequence in BREAKING)
        for result in own
    )
    return ("failure" if fails else "system-out"), own[0].message, text


def _case(source: str, name: str, said: tuple[str, str, str] | None) -> Iterator[str]:
    head = f"    <testcase classname={_attribute(source)} name={_attribute(name)}"
    if said is None:
        yield f"{head}/>"
        return
    kind, message, text = said
    about = "" if kind == "system-out" else f" message={_attribute(message)} type={_attribute(name)}"
    yield f"{head}>"
    yield f"      <{kind}{about}>{_text(text)}</{kind}>"
    yield "    </testcase>"


def _wrapped(name: str, cases: list[list[str]], out: str) -> list[str]:
    lines = [line for case in cases for line in case]
    kinds = {kind: sum(line.lstrip().startswith(f"<{kind} ") for line in lines) for kind in ("failure", "error")}
    counts = f'tests="{len(cases)}" failures="{kinds["failure"]}" errors="{kinds["error"]}"'
    told = [f"    <system-out>{_text(out)}</system-out>"] if out else []
    return [f"  <testsuite name={_attribute(name)} {counts}>", *lines, *told, "  </testsuite>"]


def _unread(source: str, words: str) -> list[str]:
    return _wrapped(source, [list(_case(source, "read", ("error", words, words)))], "")


def _text(text: str) -> str:
    # No XML document may hold a control character, not even escaped.
    return escape("\n".join(printable(line) for line in text.split("\n")))


def _attribute(text: str) -> str:
    return quoteattr(printable(text))


FORMAT: Format[Report] = Format(summary="JUnit XML for CI servers", render=_render, needs=frozenset({"run"}))
