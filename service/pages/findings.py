"""Findings for people: what goes wrong, how that is known, and what to paste against it."""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from fse_core.errors import InputError
from fse_core.target import Target
from service import targets
from service.pages.layers import State, title_words

_STATES: Final[Mapping[str, State]] = {"error": "breaks", "warning": "separate", "info": "none"}
_CONSEQUENCES: Final[Mapping[str, str]] = {
    "load_fails": "Loading fails",
    "silent_corruption": "Silently wrong output",
    "start_fails": "The start fails",
    "not_fused": "Not fused",
    "slower": "Slower",
    "none": "Worth knowing",
}
_SAFETY: Final[Mapping[str, str]] = {
    "lossless": "changes no number",
    "changes-numerics": "changes numerics",
    "needs-evaluation": "needs an evaluation of the model",
}
Place = Callable[[Target], str]
"""The page's address for another target."""


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """A fix: its summary, what it costs, what to paste (empty where there is nothing), and the page with it applied."""

    summary: str
    safety: str
    text: str
    language: str
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
    fixes: tuple[Remedy, ...]


def told(report: Mapping[str, Any], target: Target, place: Place | None) -> tuple[Told, ...]:
    """The findings of an `fse.report/1` object, the gravest first."""
    shown = [_told(finding, target, place) for finding in report["findings"]]
    return tuple(sorted(shown, key=lambda one: list(_STATES).index(one.severity)))


def _told(finding: Mapping[str, Any], target: Target, place: Place | None) -> Told:
    likely = finding["confidence"] != "certain" and finding["severity"] == "error"
    return Told(
        rule=finding["rule"],
        name=finding["name"],
        state="risky" if likely else _STATES[finding["severity"]],
        severity=finding["severity"],
        sure=finding["confidence"] == "certain",
        title=f"{_CONSEQUENCES[finding['consequence']]}{', likely' if likely else ''}",
        where=title_words(finding["part"], finding["layers"]) if finding["layers"] else "",
        message=finding["message"],
        evidence=tuple(finding["evidence"]),
        fixes=tuple(_remedy(fix, target, place) for fix in finding["fixes"]),
    )


def _remedy(fix: Mapping[str, Any], target: Target, place: Place | None) -> Remedy:
    text, language = _text(fix)
    changed = _applied(fix, target)
    return Remedy(
        summary=fix["summary"],
        safety=_SAFETY[fix["safety"]],
        text=text,
        language=language,
        link=place(changed) if place is not None and changed is not None else "",
    )


def _text(fix: Mapping[str, Any]) -> tuple[str, str]:
    patch = fix["patch"]
    match fix["kind"]:
        case "env":
            return "\n".join(f"{name}={shlex.quote(value)}" for name, value in patch.items()), "Environment"
        case "quantization_config":
            return f"--quantization-config {shlex.quote(json.dumps(patch['quantization_config']))}", "Shell"
        case "flag":
            return " \\\n".join(_flags(patch)), "Shell"
        case "config_patch":
            return json.dumps(patch, indent=2), "Into config.json"
        case _:
            return "", ""


def _flags(patch: Mapping[str, Any]) -> Iterator[str]:
    for name, value in patch.items():
        flag = f"--{name.replace('_', '-')}"
        yield flag if value is True else f"{flag} {shlex.quote(str(value))}"


def _applied(fix: Mapping[str, Any], target: Target) -> Target | None:
    """The target with the fix, None where it is not a matter of the target or the service would refuse it."""
    patch: Mapping[str, Any] = fix["patch"]
    if fix["kind"] == "env":
        return replace(target, environment={**target.environment, **patch})
    if fix["kind"] not in ("release", "quantization_config"):
        return None
    overlay = patch.get("quantization_config", target.overlay)
    changed = replace(target, vllm=patch.get("vllm", target.vllm), overlay=overlay)
    try:
        return targets.from_query(targets.to_pairs(changed))
    except InputError:
        return None
