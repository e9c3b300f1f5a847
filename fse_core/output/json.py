"""`json`: the `fse.report/1` object for programs; a list of them where several sources were asked for."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fse_core.output import Format, Style
from fse_core.report import Failure, Finding, Layer, Report
from fse_core.version import __version__

SCHEMA = "fse.report/1"


def report_to_dict(report: Report) -> dict[str, Any]:
    """The `fse.report/1` object: what `fse check --format json` prints and the service answers."""
    return {
        "schema": SCHEMA,
        "engine": __version__,
        "source": asdict(report.source),
        "model": {
            "architecture": report.architecture,
            "model_type": report.model_type,
            "layers": report.layer_count,
            "quantization": report.quantization,
        },
        "target": dict(report.target),
        "verdict": report.verdict,
        "requested": report.requested,
        "requested_reason": report.requested_reason,
        "layers": [layer_to_dict(layer) for layer in report.layers],
        "undecided_reason": report.undecided_reason,
        "startup_error": _failure(report.startup_error),
        "startup_part": report.startup_part,
        "findings": [finding_to_dict(finding) for finding in report.findings],
        "ignored": [
            {"finding": finding_to_dict(one.finding), "reason": one.reason, "until": one.until}
            for one in report.ignored
        ],
    }


def layer_to_dict(layer: Layer) -> dict[str, Any]:
    """One of `layers`."""
    return {
        "index": layer.index,
        "part": layer.part,
        "prefix": layer.prefix,
        "experts": layer.experts,
        "shared": layer.shared,
        "slots": layer.slots,
        "decision": layer.decision.decision,
        "mode": layer.mode,
        "reason": layer.decision.reason,
        "error": _failure(layer.decision.error),
        "findings": list(layer.findings),
    }


def _failure(failure: Failure | None) -> dict[str, str] | None:
    return None if failure is None else {"type": failure.type, "message": failure.message}


def finding_to_dict(finding: Finding) -> dict[str, Any]:
    """One of `findings`."""
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "consequence": finding.consequence,
        "message": finding.message,
        "part": finding.part,
        "layers": finding.layers,
        "evidence": list(finding.evidence),
        "fixes": [
            {"kind": fix.kind, "safety": fix.safety, "summary": fix.summary, "patch": fix.patch}
            for fix in finding.fixes
        ],
        "places": [asdict(place) for place in finding.places],
    }


def _render(reports: Sequence[Report], style: Style) -> str:
    objects = [report_to_dict(report) for report in reports]
    # ASCII alone: a pipe may have any encoding.
    return json.dumps(objects[0] if len(objects) == 1 else objects, indent=2, ensure_ascii=True) + "\n"


FORMAT: Format[Report] = Format(summary="fse.report/1 for programs", render=_render, needs=frozenset({"places"}))
