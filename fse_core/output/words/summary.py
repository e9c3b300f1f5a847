"""A report in one line: the verdict in plain words, and the question that it answers."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fse_core.output.words.text import Tone
from fse_core.report import PartName, Report

_SIZES = ("tp", "dp", "pcp", "pp")
_SWITCHES = {"ep": "expert parallelism", "eplb": "EPLB", "dbo": "DBO", "plugin": "the fse plugin"}
_NAMED = {"moe_backend": ("MoE backend", "auto"), "all2all_backend": ("all2all backend", None)}
_JSON_MOST = 200
"""How much of an option's JSON is shown."""


def summary(report: Report) -> tuple[str, Tone]:
    """The sentence that sums the report up, and how good the news is."""
    words, tone = _verdict(report)
    general = report.verdict in ("not_applicable", "undecided")
    return (words if general else f"{words} on {where(report.target)}"), tone


def _verdict(report: Report) -> tuple[str, Tone]:
    counted = _counted(report, "target")
    draft = _draft(report)
    match report.verdict:
        case "fuses" if report.at_risk:
            return f"fuses, at risk: {counted}{draft}", "bad"
        case "fuses":
            return f"fuses: {counted}{draft}", "good"
        case "separate":
            return f"does not fuse: {counted}{draft}", "warning"
        case "breaks":
            return f"breaks: {counted} would be fused, and loading them goes wrong", "bad"
        case "fails":
            return f"does not start: {_failure(report)}", "bad"
        case "not_applicable":
            return "not applicable: no layer has shared experts beside routed ones", "plain"
        case "undecided":
            return "undecided: nothing is claimed about this model", "warning"


def _counted(report: Report, part: PartName) -> str:
    layers = [layer for layer in report.layers if layer.part == part]
    fused = sum(layer.decision.decision == "fused" for layer in layers)
    kind = "MoE" if part == "target" else "draft"
    return f"{fused} of {len(layers)} {kind} layer{'' if len(layers) == 1 else 's'}"


def _draft(report: Report) -> str:
    return f" and {_counted(report, 'draft')}" if any(layer.part == "draft" for layer in report.layers) else ""


def _failure(report: Report) -> str:
    errors = [layer.decision.error for layer in report.layers if layer.decision.error is not None]
    failure = report.startup_error or (errors[0] if errors else None)
    return failure.type if failure else "an error"


def served(target: Mapping[str, Any]) -> str:
    """The release, by its name."""
    return f"vLLM {target['vllm']}"


def where(target: Mapping[str, Any]) -> str:
    """`gfx942 at tp 8 with vLLM 0.33.0`."""
    return f"{target['gfx']} at tp {target['tp']} with {served(target)}"


def target_words(target: Mapping[str, Any]) -> str:
    """The release, the GPU and every option that is not as it is by itself."""
    return ", ".join([served(target), str(target["gfx"]), *option_words(target)])


def option_words(target: Mapping[str, Any]) -> Iterator[str]:
    """The sizes, and every option that is not as it is by itself."""
    for key in _SIZES:
        if key == "tp" or target.get(key, 1) != 1:
            yield f"{key} {target[key]}"
    yield from (words for key, words in _SWITCHES.items() if target.get(key))
    for key, (words, default) in _NAMED.items():
        if target.get(key) not in (default, None):
            yield f"{words} {target[key]}"
    yield from (f"{name}={value}" for name, value in (target.get("env") or {}).items())
    if target.get("quantization_config") is not None:
        yield f"quantization config {_short(target['quantization_config'])}"
    if target.get("draft") is False:
        yield "no draft"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _JSON_MOST else f"{text[:_JSON_MOST]}..."
