"""What a project makes of its findings: which count, how bad they are to it, which it puts up with until when.

Reports go in and come out; what a release does stays what it is.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fnmatch import fnmatchcase

from fse_core import notices
from fse_core.grouping import among, ranges
from fse_core.report import BREAKING, Finding, Ignored, Layer, Report, Source, ranked
from fse_core.ruletext import RuleText
from fse_core.settings import Ignore, Settings


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A report and the name of its target in the settings."""

    report: Report
    target: str | None = None


@dataclass(frozen=True, kw_only=True)
class Policy:
    """`select` are the rules that count, all where it is empty; `ignore` those that the command line puts aside."""

    settings: Settings = field(default_factory=Settings)
    select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    today: date = field(default_factory=date.today)

    def applied(self, checked: Sequence[Checked]) -> list[Report]:
        """The reports with what counts, and what is to be said of the ignores themselves."""
        used: set[int] = set()
        reports = [self._sifted(one, used) for one in checked]
        for ignore in self.settings.ignores:
            notice = self._notice(ignore, checked, used)
            if notice is not None:
                index, finding = notice
                ordered = ranked((*reports[index].findings, self._weighed(finding)))
                reports[index] = replace(reports[index], findings=ordered)
        return reports

    def _sifted(self, one: Checked, used: set[int]) -> Report:
        kept: list[Finding] = []
        ignored: list[Ignored] = []
        for finding in map(self._weighed, one.report.findings):
            aside = self._aside(finding, one, used)
            if aside is None:
                kept.append(finding)
            else:
                ignored.append(aside)
        if not ignored:
            return replace(one.report, findings=ranked(kept))
        layers = tuple(
            replace(layer, findings=tuple(rule for rule in layer.findings if _about(kept, rule, layer)))
            for layer in one.report.layers
        )
        return replace(one.report, findings=ranked(kept), ignored=tuple(ignored), layers=layers)

    def _weighed(self, finding: Finding) -> Finding:
        return replace(finding, severity=self.settings.severity.get(finding.rule, finding.severity))

    def _aside(self, finding: Finding, one: Checked, used: set[int]) -> Ignored | None:
        if not self._counts(finding.rule):
            why = "--ignore" if finding.rule in self.ignore else "not selected"
            return Ignored(finding=finding, reason=why)
        for ignore in self.settings.ignores:
            if self._applies(ignore, one) and _covers(ignore, finding):
                used.add(ignore.number)
                if self.today < ignore.until:
                    return Ignored(finding=finding, reason=ignore.reason, until=ignore.until.isoformat())
        return None

    def _counts(self, rule: str) -> bool:
        return rule not in self.ignore and (not self.select or rule in self.select)

    def _applies(self, ignore: Ignore, one: Checked) -> bool:
        if ignore.target is not None and ignore.target != one.target:
            return False
        names = _names(one.report.source, self.settings.folder)
        return ignore.model is None or any(fnmatchcase(name, ignore.model) for name in names)

    def _notice(self, ignore: Ignore, checked: Sequence[Checked], used: set[int]) -> tuple[int, Finding] | None:
        """What is to be said of the ignore, at the first report that it is about."""
        about = [index for index, one in enumerate(checked) if self._applies(ignore, one)]
        if not about or not self._counts(ignore.rule):
            return None
        text = _words(ignore)
        if self.today >= ignore.until:
            told = f"{text} holds no longer: its day was {ignore.until}. Its reason was: {ignore.reason}"
            return self._told(about[0], notices.IGNORE_EXPIRED, ignore, told)
        decided = all(checked[index].report.verdict != "undecided" for index in about)
        if decided and ignore.number not in used:
            told = f"{text} matches nothing that was found. Its reason was: {ignore.reason}"
            return self._told(about[0], notices.IGNORE_UNUSED, ignore, told)
        return None

    def _told(self, index: int, rule: RuleText, ignore: Ignore, words: str) -> tuple[int, Finding] | None:
        if not self._counts(rule.id):
            return None
        return index, Finding(
            rule=rule.id,
            name=rule.name,
            severity=rule.severity,
            confidence=rule.confidence,
            consequence="none",
            message=words,
            evidence=(f"ignore[{ignore.number - 1}] in {ignore.place.file}",),
            places=(ignore.place,),
        )


def excused(report: Report) -> bool:
    """Whether all that makes the model break was put aside."""
    return any(one.finding.consequence in BREAKING for one in report.ignored) and not any(
        finding.consequence in BREAKING and finding.confidence == "certain" for finding in report.findings
    )


def _about(findings: Sequence[Finding], rule: str, layer: Layer) -> bool:
    return any(one.rule == rule and one.part == layer.part and among(one.layers, layer.index) for one in findings)


def _covers(ignore: Ignore, finding: Finding) -> bool:
    if ignore.rule != finding.rule:
        return False
    if ignore.layers is None:
        return True
    return bool(finding.layers) and all(
        among(ignore.layers, index) for piece in ranges(finding.layers) for index in piece
    )


def _names(source: Source, folder: str) -> tuple[str, ...]:
    """What a pattern may name a source by: its id, and its path from where the settings are."""
    if source.kind != "path":
        return (source.id,)
    path = os.path.relpath(source.id, folder).replace(os.sep, "/")
    return tuple(dict.fromkeys((source.id, path, path.removesuffix("/config.json"))))


def _words(ignore: Ignore) -> str:
    limits = [f" for {name} {value}" for name, value in (("model", ignore.model), ("layers", ignore.layers)) if value]
    limits += [f" on {ignore.target}"] if ignore.target else []
    return f"the ignore of {ignore.rule}{','.join(limits)}"
