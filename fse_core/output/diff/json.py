"""`json`: the `fse.diff/1` object for programs."""

import json
from collections.abc import Sequence
from typing import Any

from fse_core.diff import Change, Diff
from fse_core.grouping import numbers
from fse_core.output import Format, Style
from fse_core.output.json import finding_to_dict, layer_to_dict, report_to_dict
from fse_core.report import Layer, Report
from fse_core.version import __version__

SCHEMA = "fse.diff/1"

_OF_A_SIDE = (
    "target", "verdict", "requested", "requested_reason", "undecided_reason", "startup_error", "startup_part",
    "findings",
)  # fmt: skip


def diff_to_dict(diff: Diff) -> dict[str, Any]:
    """The `fse.diff/1` object. `old` and `new` have the fields of `fse.report/1`, less those that are told once."""
    new = report_to_dict(diff.new)
    return {
        "schema": SCHEMA,
        "engine": __version__,
        "source": new["source"],
        "model": {key: new["model"][key] for key in ("architecture", "model_type", "layers")},
        "outcome": diff.outcome,
        "old": _side(diff.old),
        "new": _side(diff.new),
        "layers": [_change(change) for change in diff.changes],
        "appeared": [finding_to_dict(finding) for finding in diff.appeared],
        "gone": [finding_to_dict(finding) for finding in diff.gone],
        "back": diff.back,
        "steps": [{"vllm": step.vllm, "changes": list(step.sentences)} for step in diff.steps],
    }


def _side(report: Report) -> dict[str, Any]:
    whole = report_to_dict(report)
    return {"quantization": report.quantization, **{key: whole[key] for key in _OF_A_SIDE}}


def _change(change: Change) -> dict[str, Any]:
    return {
        "part": change.part,
        "layers": numbers(change.indices),
        "indices": list(change.indices),
        "change": change.words,
        "changed": change.changed,
        "worse": change.worse,
        "better": change.better,
        "before": change.before,
        "after": change.after,
        "alike": change.alike,
        "old": _layer(change.old),
        "new": _layer(change.new),
    }


def _layer(layer: Layer | None) -> dict[str, Any] | None:
    return None if layer is None else layer_to_dict(layer)


def _render(diffs: Sequence[Diff], style: Style) -> str:
    objects = [diff_to_dict(diff) for diff in diffs]
    return json.dumps(objects[0] if len(objects) == 1 else objects, indent=2, ensure_ascii=True) + "\n"


FORMAT: Format[Diff] = Format(summary="fse.diff/1 for programs", render=_render)
