"""A report's verdict as a small picture for model cards."""

from collections.abc import Mapping
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from service.doubt import AT_RISK, FAULTY, doubtful, has_error, worst

_COLOURS: Final[Mapping[str, str]] = {
    "fuses": "#2e7d32",
    AT_RISK: "#b3261e",
    "separate": "#8a5a00",
    FAULTY.format("separate"): "#b3261e",
    FAULTY.format("not applicable"): "#b3261e",
    "breaks": "#b3261e",
    "fails": "#b3261e",
    "not applicable": "#5f6368",
    "undecided": "#5f6368",
}
_TOLD: Final = ("breaks", "fails", "undecided")
"""Verdicts beside which it need not be said that something goes wrong."""

_NAMED: Final = 3
_NARROW, _WIDE = "fijlrt.,:;'|()[]!I /", "mwMW@%"


def of_report(report: Mapping[str, Any]) -> bytes:
    """The verdict's words, and what they hold for."""
    target = report["target"]
    where = f"vLLM {target['vllm']} {target['gfx']}" + (f" tp{target['tp']}" if target["tp"] != 1 else "")
    words = _words(report)
    layers = [layer for layer in report["layers"] if layer["part"] == "target"]
    fused = sum(layer["decision"] == "fused" for layer in layers)
    counted = f", {fused} of {len(layers)} layers" if layers and report["verdict"] in ("fuses", "separate") else ""
    return draw(where, words, f"{report['source']['id']} with {where}: {words}{counted}{_found(report)}")


def _words(report: Mapping[str, Any]) -> str:
    """The verdict, and that something goes wrong where that is not the verdict already."""
    if doubtful(report):
        return AT_RISK
    words: str = report["verdict"].replace("_", " ")
    return FAULTY.format(words) if has_error(report) and report["verdict"] not in _TOLD else words


def _found(report: Mapping[str, Any]) -> str:
    """The gravest findings by name."""
    grave = worst(report)
    names = dict.fromkeys(one["name"] for one in report["findings"] if one["severity"] == grave)
    return f"; {grave}: {', '.join([*names][:_NAMED])}" if grave in ("error", "warning") else ""


def of_failure(words: str, title: str) -> bytes:
    """That nothing can be said, and why."""
    return draw("shared experts", words, title)


def draw(label: str, words: str, title: str) -> bytes:
    """Two fields side by side; the text is as wide as it says, whatever the font."""
    left, right = _width(label), _width(words)
    whole = left + right + 40
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" role="img" aria-label={quoteattr(title)}>'
        f"<title>{escape(title)}</title>"
        f'<clipPath id="r"><rect width="{whole}" height="20" rx="3"/></clipPath><g clip-path="url(#r)">'
        f'<rect width="{left + 20}" height="20" fill="#3c4043"/>'
        f'<rect x="{left + 20}" width="{right + 20}" height="20" fill="{_COLOURS.get(words, "#5f6368")}"/></g>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="10" y="14" textLength="{left}">{escape(label)}</text>'
        f'<text x="{left + 30}" y="14" textLength="{right}">{escape(words)}</text></g></svg>'
    ).encode()


def _width(text: str) -> int:
    """About what 11 px Verdana takes."""
    return round(sum(4.2 if char in _NARROW else 10 if char in _WIDE else 7 for char in text))
