"""The report for a model, of whose fixes none leads to a release that is worse for it.

A rule knows what a release does better, and not what else it does to the model. Each release that a finding proposes is
asked about the model as well; where it does not do, the first of the next ones that does takes its place, if any.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from fse_core import pipeline, releases
from fse_core.errors import InputError
from fse_core.read.model import Model
from fse_core.report import Finding, Fix, Report
from fse_core.target import Target

_MOST: Final = 8
"""Releases that are asked for one fix: a millisecond or two each."""

_PATIENCE: Final = 0.5
_WORSE: Final = ("undecided", "fails", "breaks")


def run(model: Model, target: Target) -> Report:
    """See `fse_core.check`."""
    report = _examined(model, target)
    if not any(fix.kind == "release" for finding in report.findings for fix in finding.fixes):
        return report
    asked = _Asked(model, target, report)
    findings = (replace(finding, fixes=tuple(asked.kept(finding))) for finding in report.findings)
    return replace(report, findings=tuple(findings))


def _examined(model: Model, target: Target, patience: float | None = None) -> Report:
    if target.plugin:
        from fse_core.plugged.report import examined  # which a check without the plugin need not wait for

        return examined(model, target, patience=patience)
    return pipeline.examined(model, target, patience=patience)[0]


class _Asked:
    """What other releases make of the model, each asked once."""

    def __init__(self, model: Model, target: Target, report: Report) -> None:
        self._model, self._target = model, target
        self._answers = report.target["vllm"]
        self._errors = _errors(report)
        self._reports: dict[str, Report | None] = {}

    def kept(self, finding: Finding) -> Iterator[Fix]:
        """The finding's fixes, those by a release with one that is no worse."""
        for fix in finding.fixes:
            version = fix.patch["vllm"] if fix.kind == "release" else None
            if version is None or version == self._answers:  # what answers here anyway is no worse
                yield fix
                continue
            first = releases.known().index(version)
            tried = releases.known()[first : first + _MOST]
            found = next((one for one in tried if self._helps(finding, one)), None)
            if found is not None:
                summary = fix.summary.replace(f"vLLM {version}", f"vLLM {found}")
                yield replace(fix, summary=summary, patch={**fix.patch, "vllm": found})

    def _helps(self, finding: Finding, version: str) -> bool:
        """Whether what was found is gone there, a layer that was to be fused is, and no other error comes."""
        report = self._report(version)
        if report is None or report.verdict in _WORSE or any(_same(finding, one) for one in report.findings):
            return False
        fused = any(layer.part == finding.part and layer.decision.decision == "fused" for layer in report.layers)
        if finding.consequence == "not_fused" and not fused:
            return False
        own = [(finding.rule, finding.part)] if finding.severity == "error" else []
        return _errors(report) <= self._errors - Counter(own)

    def _report(self, version: str) -> Report | None:
        """None where the release does not take the target's options."""
        if version not in self._reports:
            try:
                target = replace(self._target, vllm=version)
                self._reports[version] = _examined(self._model, target, _PATIENCE)
            except InputError:
                self._reports[version] = None
        return self._reports[version]


def _errors(report: Report) -> Counter[tuple[str, str | None]]:
    return Counter((finding.rule, finding.part) for finding in report.findings if finding.severity == "error")


def _same(one: Finding, other: Finding) -> bool:
    return (one.rule, one.part, one.evidence) == (other.rule, other.part, other.evidence)
