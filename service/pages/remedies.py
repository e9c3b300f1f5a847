"""Fixes for people: what to paste, what it costs, and the page with it applied."""

import difflib
import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from fse_core.errors import FseError, InputError
from fse_core.launch import command
from fse_core.read.edit import edited
from fse_core.report import Source
from fse_core.target import Target
from service import targets

_SAFETY: Final[Mapping[str, str]] = {
    "lossless": "changes no number",
    "changes-numerics": "changes numerics",
    "needs-evaluation": "needs an evaluation of the model",
}
_LAUNCH: Final = ("env", "flag", "quantization_config")
_MOST_TEXT: Final = 4 * 1024 * 1024
_MOST_LINE: Final = 20_000
"""Characters of a config, and of a line of it, of which a difference is still something to read."""

_ANY: Final = Source(kind="inline", id="model")
_CONTINUED: Final = " \\\n"

Place = Callable[[Target], str]
"""The page's address for another target."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is to be mended: as it is served, and its config's text. What is not at hand is None."""

    target: Target
    place: Place | None = None
    source: Source | None = None
    config: str | None = None


@dataclass(frozen=True, kw_only=True)
class Paste:
    """Something to copy. `folded`: shown on demand, under its `label`."""

    text: str
    language: str
    label: str
    folded: bool = False


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """A fix: its summary, what it costs, what to paste, and the page with it applied (empty where there is none)."""

    summary: str
    safety: str
    pastes: tuple[Paste, ...]
    link: str


def remedy(fix: Mapping[str, Any], subject: Subject) -> Remedy:
    """One of a finding's `fixes`."""
    changed = _applied(fix, subject.target)
    return Remedy(
        summary=fix["summary"],
        safety=_SAFETY[fix["safety"]],
        pastes=tuple(_pastes(fix, subject, changed)),
        link=subject.place(changed) if subject.place is not None and changed is not None else "",
    )


def _pastes(fix: Mapping[str, Any], subject: Subject, changed: Target | None) -> Iterator[Paste]:
    patch = fix["patch"]
    if fix["kind"] == "config_patch":
        merged = json.dumps(patch, indent=2)
        difference = None if subject.config is None else _difference(subject.config, patch)
        if difference:
            yield Paste(text=difference, language="Difference", label="the change of config.json")
        label = "What to merge into config.json"
        yield Paste(text=merged, language="Into config.json", label=label, folded=bool(difference))
    if fix["kind"] not in _LAUNCH:
        return
    yield _option(fix["kind"], patch, subject.target, changed)
    if subject.source is not None and changed is not None:
        whole = command(subject.source, changed.as_dict())
        yield Paste(text=whole, language="Shell", label="The whole launch command", folded=True)


def _option(kind: str, patch: Mapping[str, Any], target: Target, changed: Target | None) -> Paste:
    label = "what to paste"
    if kind == "env":
        text = "\n".join(f"{name}={shlex.quote(value)}" for name, value in patch.items())
        return Paste(text=text, language="Environment", label=label)
    if kind == "quantization_config":
        text = f"--quantization-config {shlex.quote(json.dumps(patch['quantization_config']))}"
        return Paste(text=text, language="Shell", label=label)
    return Paste(text=_CONTINUED.join(_flags(patch, target, changed)), language="Shell", label=label)


def _flags(patch: Mapping[str, Any], target: Target, changed: Target | None) -> Iterator[str]:
    """Options as vLLM calls them, where the service knows them as one of the target's."""
    if changed is not None:
        before, after = (command(_ANY, one.as_dict()).split(_CONTINUED) for one in (target, changed))
        yield from (line.strip() for line in after if line not in before)
        return
    for name, value in patch.items():
        flag = f"--{name.strip('-').replace('_', '-')}"
        yield flag if value is True else f"{flag} {shlex.quote(str(value))}"


def _difference(config: str, patch: Mapping[str, Any]) -> str:
    """What `patch -p1` takes; empty where it would be nothing to read."""
    if len(config) > _MOST_TEXT or max(map(len, config.splitlines()), default=0) > _MOST_LINE:
        return ""
    try:
        new = edited(config, patch)
    except (FseError, TypeError, ValueError):
        return ""
    lines = difflib.unified_diff(config.splitlines(True), new.splitlines(True), "a/config.json", "b/config.json")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _applied(fix: Mapping[str, Any], target: Target) -> Target | None:
    """The target with the fix, None where it is not a matter of the target or the service would refuse it."""
    patch: Mapping[str, Any] = fix["patch"]
    try:
        match fix["kind"]:
            case "env":
                return replace(target, environment={**target.environment, **patch})
            case "flag":
                changed = replace(target, **{name.strip("-").replace("-", "_"): value for name, value in patch.items()})
            case "release" | "quantization_config":
                overlay = patch.get("quantization_config", target.overlay)
                changed = replace(target, vllm=patch.get("vllm", target.vllm), overlay=overlay)
            case _:
                return None
        return targets.from_query(targets.to_pairs(changed))
    except (InputError, TypeError):
        return None
