"""What a run found, for outputs that know findings alone: each once, whatever number of targets it was found for."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from fse_core import notices
from fse_core.grouping import among
from fse_core.output.words.files import relative
from fse_core.output.words.summary import served, target_words
from fse_core.report import Confidence, Consequence, Failure, Fix, Ignored, Layer, PartName, Place, Report, Severity


@dataclass(frozen=True, kw_only=True)
class Result:
    """One thing that is wrong with one source. `places` are where its evidence stands, else where the config does.

    `nth` tells it from others of its report that are as like it as can be.
    """

    rule: str
    name: str
    severity: Severity
    confidence: Confidence
    consequence: Consequence
    message: str
    report: Report
    part: PartName | None = None
    layers: str = ""
    evidence: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    places: tuple[Place, ...] = ()
    ignored: Ignored | None = None
    nth: int = 0
    targets: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """`FSE101 name, layers 3-60`."""
        kind = "draft layers" if self.part == "draft" else "layers"
        return f"{self.rule} {self.name}" + (f", {kind} {self.layers}" if self.layers else "")

    @property
    def lines(self) -> list[str]:
        """The message, and what helps."""
        return [self.message, *(f"Fix ({fix.safety}): {fix.summary}" for fix in self.fixes)]

    @property
    def fingerprint(self) -> str:
        """What stays equal from run to run: it knows neither lines nor words nor releases."""
        heads = [evidence.partition(": ")[0] for evidence in self.evidence]
        source = self.report.source
        name = source.id if source.kind == "hub" else relative(Place(file=source.id)) or source.id
        what = [self.rule, source.kind, name, self.part, self.layers, heads, self.nth]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:32]

    def own_layers(self) -> tuple[Layer, ...]:
        """The report's layers that it is about."""
        return tuple(
            layer for layer in self.report.layers if layer.part == self.part and among(self.layers, layer.index)
        )


def results(reports: Sequence[Report], *, ignored: bool = False) -> list[Result]:
    """All of them, those of one source together; `ignored` asks for those that were put aside, too."""
    found: dict[str, Result] = {}
    for report in reports:
        seen: Counter[str] = Counter()
        for result in (*_whole(report), *_findings(report), *(_ignored(report) if ignored else ())):
            alike = result.fingerprint
            one = replace(result, nth=seen[alike]) if seen[alike] else result
            seen[alike] += 1
            first = found.setdefault(f"{one.fingerprint} {one.ignored is None}", one)
            words = target_words(report.target)
            if words not in first.targets:
                first.targets.append(words)
    return list(found.values())


def _findings(report: Report) -> Iterator[Result]:
    for finding in report.findings:
        yield _result(report, Ignored(finding=finding, reason=""), ignored=None)


def _ignored(report: Report) -> Iterator[Result]:
    for one in report.ignored:
        yield _result(report, one, ignored=one)


def _result(report: Report, one: Ignored, ignored: Ignored | None) -> Result:
    finding = one.finding
    return Result(
        rule=finding.rule,
        name=finding.name,
        severity=finding.severity,
        confidence=finding.confidence,
        consequence=finding.consequence,
        message=finding.message,
        report=report,
        part=finding.part,
        layers=finding.layers,
        evidence=finding.evidence,
        fixes=finding.fixes,
        places=finding.places or _config(report),
        ignored=ignored,
    )


def _whole(report: Report) -> Iterator[Result]:
    """The verdicts that are no finding and stop a run all the same."""
    failure = report.startup_error or next(_failures(report), None)
    if report.verdict == "fails" and failure is not None:
        message = f"{served(report.target)} does not start: {failure.type}: {failure.message}"
        yield _notice(report, message, notices.DOES_NOT_START.id)
    if report.verdict == "undecided":
        yield _notice(report, f"undecided: {report.undecided_reason}", notices.UNDECIDED.id)


def _failures(report: Report) -> Iterator[Failure]:
    return (layer.decision.error for layer in report.layers if layer.decision.error is not None)


def _notice(report: Report, message: str, rule: str) -> Result:
    text = next(one for one in notices.ALL if one.id == rule)
    return Result(
        rule=text.id,
        name=text.name,
        severity=text.severity,
        confidence=text.confidence,
        consequence="start_fails" if text is notices.DOES_NOT_START else "none",
        message=message,
        report=report,
        places=_config(report),
    )


def _config(report: Report) -> tuple[Place, ...]:
    return () if report.config is None else (report.config,)
