"""Findings for people: what goes wrong, how that is known, and what to paste against it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fse_core.report import Source
from service.pages.layers import State, title_words
from service.pages.remedies import Remedy, Subject, remedy

SEVERITIES: Final[Mapping[str, State]] = {"error": "breaks", "warning": "separate", "info": "none"}
"""How grave a finding is, the gravest first, and the state that its icon shows."""

_CONSEQUENCES: Final[Mapping[str, str]] = {
    "load_fails": "Loading fails",
    "silent_corruption": "Silently wrong output",
    "start_fails": "The start fails",
    "not_fused": "Not fused",
    "slower": "Slower",
    "none": "Worth knowing",
}


@dataclass(frozen=True, kw_only=True)
class Spot:
    """Where a piece of evidence stands; `link` is empty where nobody else can look there."""

    file: str
    place: str
    pointer: str
    link: str


@dataclass(frozen=True, kw_only=True)
class Told:
    """A finding as it is shown; `where` are its layers, empty where it is about none."""

    rule: str
    name: str
    state: State
    severity: str
    sure: bool
    title: str
    where: str
    message: str
    evidence: tuple[str, ...]
    spots: tuple[Spot, ...]
    fixes: tuple[Remedy, ...]


def told(findings: Iterable[Mapping[str, Any]], subject: Subject) -> tuple[Told, ...]:
    """Findings of an `fse.report/1` object, the gravest first."""
    shown = [_told(finding, subject) for finding in findings]
    return tuple(sorted(shown, key=lambda one: list(SEVERITIES).index(one.severity)))


def _told(finding: Mapping[str, Any], subject: Subject) -> Told:
    likely = finding["confidence"] != "certain" and finding["severity"] == "error"
    return Told(
        rule=finding["rule"],
        name=finding["name"],
        state="risky" if likely else SEVERITIES[finding["severity"]],
        severity=finding["severity"],
        sure=finding["confidence"] == "certain",
        title=f"{_CONSEQUENCES[finding['consequence']]}{', likely' if likely else ''}",
        where=title_words(finding["part"], finding["layers"]) if finding["layers"] else "",
        message=finding["message"],
        evidence=tuple(finding["evidence"]),
        spots=tuple(_spot(place, subject.source) for place in finding["places"]),
        fixes=tuple(remedy(fix, subject) for fix in finding["fixes"]),
    )


def _spot(place: Mapping[str, Any], source: Source | None) -> Spot:
    file = place["file"].rpartition("/")[2]
    link = ""
    if source is not None and source.kind == "hub" and source.commit and place["line"]:
        link = f"https://huggingface.co/{source.id}/blob/{source.commit}/{file}#L{place['line']}"
    words = f"line {place['line']}, column {place['column']}" if place["line"] else ""
    return Spot(file=file, place=words, pointer=place["pointer"], link=link)
