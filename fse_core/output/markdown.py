"""`markdown`: for a job's summary, an issue or a pull request."""

from collections.abc import Iterator, Sequence

from fse_core.grouping import groups, layer_words
from fse_core.output import Format, Style
from fse_core.output.words.markdown import code, plain, table
from fse_core.output.words.source import model_words, source_words
from fse_core.output.words.summary import served, summary, target_words
from fse_core.report import Finding, Report


def _render(reports: Sequence[Report], style: Style) -> str:
    return "\n\n".join("\n".join(_lines(report)) for report in reports) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"### {plain(source_words(report.source))}"
    yield ""
    yield f"{plain(model_words(report.architecture, report.layer_count))}; {plain(target_words(report.target))}."
    yield ""
    yield f"**{plain(summary(report)[0])}**"
    for section in (_whole, _layers, _findings, _ignored):
        lines = list(section(report))
        yield from ("", *lines) if lines else ()


def _whole(report: Report) -> Iterator[str]:
    if not report.requested:
        yield f"- fusion is not requested: {plain(report.requested_reason or 'no reason given')}"
    if report.startup_error is not None:
        what = " with its draft" if report.startup_part == "draft" else ""
        failure = f"{report.startup_error.type}: {report.startup_error.message}"
        yield f"- {plain(served(report.target))} does not start{what}: {code(failure)}"
    if report.undecided_reason is not None:
        yield f"- undecided: {plain(report.undecided_reason)}"


def _layers(report: Report) -> Iterator[str]:
    found = groups(report.layers)
    rows = []
    for group in found:
        decision = group.first.decision
        said = f"{decision.error.type}: {decision.error.message}" if decision.error else decision.reason
        rows.append([layer_words(group.first.part, group.indices), decision.decision, code(said) if said else ""])
    if rows:
        yield from table(["layers", "decision", "the release's words"], rows)
    if any(group.alike for group in found):
        yield from ("", "Where the words name a layer, each layer has its own number.")


def _findings(report: Report) -> Iterator[str]:
    for finding in report.findings:
        yield f"- {finding.severity} {_named(finding)}: {plain(finding.message)}"
        yield from (f"  - {code(evidence)}" for evidence in finding.evidence)
        yield from (f"  - fix ({fix.safety}): {plain(fix.summary)}" for fix in finding.fixes)


def _ignored(report: Report) -> Iterator[str]:
    for one in report.ignored:
        until = f" (until {one.until})" if one.until else ""
        yield f"- ignored: {_named(one.finding)}: {plain(one.reason)}{until}"


def _named(finding: Finding) -> str:
    kind = "draft layers" if finding.part == "draft" else "layers"
    sure = "" if finding.confidence == "certain" else ", likely"
    return f"**{finding.rule} {plain(finding.name)}**{sure}" + (f", {kind} {finding.layers}" if finding.layers else "")


FORMAT: Format[Report] = Format(summary="to paste into an issue or a pull request", render=_render)
