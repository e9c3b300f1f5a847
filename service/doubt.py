"""Whether a verdict that sounds good is all there is to say."""

from collections.abc import Mapping
from typing import Any, Final

AT_RISK: Final = "fuses, at risk"
"""What is said instead of `fuses` where it is doubtful."""

FAULTY: Final = "{}, with errors"
"""What is said besides another verdict where a finding tells of something that goes wrong."""

_SEVERITIES: Final = ("error", "warning", "info")


def worst(report: Mapping[str, Any]) -> str | None:
    """The severity of the gravest finding."""
    found = {finding["severity"] for finding in report["findings"]}
    return next((severity for severity in _SEVERITIES if severity in found), None)


def has_error(report: Mapping[str, Any]) -> bool:
    """Whether a finding tells of something that goes wrong."""
    return any(finding["severity"] == "error" for finding in report["findings"])


def doubtful(report: Mapping[str, Any]) -> bool:
    """It fuses, and a finding says that something goes wrong, though not surely, or with the draft alone."""
    return report["verdict"] == "fuses" and has_error(report)
