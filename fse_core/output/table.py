"""`table`: for people. One line for each group of layers with the same answer, and a last line that sums it up."""

from collections.abc import Iterator, Sequence

from fse_core.grouping import Group, groups, layer_words
from fse_core.output import Format, Style
from fse_core.output.words.source import model_words, source_words
from fse_core.output.words.summary import served, summary, target_words
from fse_core.output.words.text import Tone, labelled, paint, printable, wrapped
from fse_core.report import Failure, Finding, Report

_INDENT = 2
_DEEPER = 6
_TONES: dict[str, Tone] = {
    "fused": "good",
    "separate": "warning",
    "error": "bad",
    "undecided": "warning",
    "warning": "warning",
    "info": "plain",
}


def _render(reports: Sequence[Report], style: Style) -> str:
    blocks = ["\n".join(_lines(report, style)) for report in reports]
    return "\n\n".join(blocks) + "\n"


def _lines(report: Report, style: Style) -> Iterator[str]:
    yield from _header(report, style)
    for section in (_layers, _failures, _findings, _ignored):
        lines = list(section(report, style))
        yield from ("", *lines) if lines else ()
    yield ""
    words, tone = summary(report)
    yield from wrapped(words, style, tone=tone)


def _header(report: Report, style: Style) -> Iterator[str]:
    yield from wrapped(source_words(report.source), style, tone="strong")
    for label, value in (("model", _model(report)), ("target", target_words(report.target))):
        yield from labelled(label, value, style, indent=_INDENT)


def _model(report: Report) -> str:
    facts = [model_words(report.architecture, report.layer_count)]
    if report.quantization is not None:
        facts.append(report.quantization)
    elif report.verdict in ("fuses", "separate", "not_applicable"):  # else the block may not have been read
        facts.append("not quantized")
    return ", ".join(facts)


def _layers(report: Report, style: Style) -> Iterator[str]:
    found = groups(report.layers)
    names = [layer_words(group.first.part, group.indices) for group in found]
    column = max(map(len, names), default=0)
    if style.width is not None:
        column = min(column, style.width // 2)
    for name, group in zip(names, found, strict=True):
        decision = group.first.decision
        how = paint(decision.decision, _TONES[decision.decision], style)
        yield " " * _INDENT + f"{name:<{column}}  {how}{_mode(group)}"
        yield from _words(group, style)


def _mode(group: Group) -> str:
    layer = group.first
    if layer.decision.decision != "fused":
        return ""
    return f", {layer.slots} slot{'' if layer.slots == 1 else 's'}, {layer.mode}"


def _words(group: Group, style: Style) -> Iterator[str]:
    decision = group.first.decision
    if decision.error is not None:
        yield from _failure(decision.error, style)
    elif decision.reason is not None:
        yield from wrapped(decision.reason, style, indent=_DEEPER)
    elif decision.decision == "separate":
        yield from wrapped("(the release gives no reason)", style, indent=_DEEPER, tone="faint")
    if group.alike:
        yield from wrapped("(each layer with its own number)", style, indent=_DEEPER, tone="faint")


def _failures(report: Report, style: Style) -> Iterator[str]:
    if not report.requested:
        yield from wrapped(
            f"fusion is not requested: {report.requested_reason or 'no reason given'}", style, indent=_INDENT
        )
    if report.startup_error is not None:
        what = " with its draft" if report.startup_part == "draft" else ""
        yield from wrapped(f"{served(report.target)} does not start{what}:", style, indent=_INDENT, tone="bad")
        yield from _failure(report.startup_error, style)
    if report.undecided_reason is not None:
        yield from wrapped("undecided:", style, indent=_INDENT, tone="warning")
        yield from wrapped(report.undecided_reason, style, indent=_DEEPER)


def _failure(failure: Failure, style: Style) -> Iterator[str]:
    """The exception's own words, which may be several lines."""
    for line in f"{failure.type}: {failure.message}".split("\n"):
        yield from wrapped(line, style, indent=_DEEPER)


def _findings(report: Report, style: Style) -> Iterator[str]:
    for finding in report.findings:
        yield from _finding(finding, style)


def _finding(finding: Finding, style: Style) -> Iterator[str]:
    kind = "draft layers" if finding.part == "draft" else "layers"
    where = f", {kind} {finding.layers}" if finding.layers else ""
    severity = paint(finding.severity, _TONES[finding.severity], style)
    sure = "" if finding.confidence == "certain" else ", likely"
    yield " " * _INDENT + f"{severity} {printable(f'{finding.rule} {finding.name}{sure}{where}')}"
    yield from wrapped(finding.message, style, indent=_DEEPER)
    for evidence in finding.evidence:
        yield from wrapped(evidence, style, indent=_DEEPER, tone="faint")
    for fix in finding.fixes:
        yield from wrapped(f"fix ({fix.safety}): {fix.summary}", style, indent=_DEEPER)


def _ignored(report: Report, style: Style) -> Iterator[str]:
    for one in report.ignored:
        until = f" (until {one.until})" if one.until else ""
        words = f"ignored {one.finding.rule} {one.finding.name}: {one.reason}{until}"
        yield from wrapped(words, style, indent=_INDENT, tone="faint")


FORMAT: Format[Report] = Format(summary="for people", render=_render)
