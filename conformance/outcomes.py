"""What a loading came to: by the release, and by our own check of the folder with full headers."""

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from conformance.checkpoints.kinds import Kind
from fse_core import check
from fse_core.headers import with_headers
from fse_core.read.model import Model
from fse_core.read.source import read_model
from fse_core.report import Finding, Report
from fse_core.target import Target

Outcome = Literal["sound", "load_fails", "silent_corruption", "does_not_start"]
_UNSET = re.compile(r"(\S+): (\d+) of \d+ bytes unset")
_PARAMETER = re.compile(r".*\.layers\.(\d+)\..*?(?:routed_experts|shared_experts?)\.(.+)")
_BREAKING: tuple[Outcome, ...] = ("load_fails", "silent_corruption")


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The release's own. `error` is the exception's type and words; `unset` are bytes left and there, by parameter."""

    outcome: Outcome
    fused: bool
    error: tuple[str, str] | None = None
    unset: Mapping[str, tuple[int, int]] | None = None

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        """From what the live release answered."""
        error, fused = answer["error"], answer["fused"] == [True] and not answer["separate"]
        if error is None:
            unset = {name: (left, there) for name, (left, there) in answer["unset"].items()}
            return cls(outcome="silent_corruption" if unset else "sound", fused=fused, unset=unset)
        outcome: Outcome = "load_fails" if error["stage"] == "load" else "does_not_start"
        return cls(outcome=outcome, fused=fused, error=(error["type"], error["message"][:200]))

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        error, unset = record.get("error"), record.get("unset")
        return cls(
            outcome=record["outcome"],
            fused=record["fused"],
            error=None if error is None else (error[0], error[1]),
            unset={name: (left, there) for name, (left, there) in (unset or {}).items()},
        )

    def by_layer(self) -> Mapping[tuple[int, str], int]:
        """The bytes that stay unwritten, by the layer's number and the parameter."""
        found = {_PARAMETER.fullmatch(name): left for name, (left, _) in (self.unset or {}).items()}
        return {(int(match[1]), match[2]): left for match, left in found.items() if match}

    def as_dict(self) -> dict[str, Any]:
        whole: dict[str, Any] = {"outcome": self.outcome, "fused": self.fused}
        return whole | ({"error": self.error} if self.error else {}) | ({"unset": self.unset} if self.unset else {})


@dataclass(frozen=True, kw_only=True)
class Said:
    """Our own: what is certain of this folder, and what the config alone is certain of.

    `unset` are the bytes that stay unwritten by our account, by the layer's number and the parameter.
    """

    full: Outcome
    config: Outcome | None
    rules: tuple[str, ...]
    doubts: tuple[str, ...]
    unset: Mapping[tuple[int, str], int]


def said(kind: Kind, release: str, gfx: str) -> Said:
    """What a check of the kind's checkpoint says."""
    target = Target(vllm=release, gfx=gfx, tp=kind.recipe.tp, overlay=kind.overlay, draft=False)
    model = _model(kind)
    whole, alone = check(model, target), check(replace(model, headers=None), target)
    told = [one for one in whole.findings if one.consequence in _BREAKING]
    return Said(
        full=_outcome(whole) or "sound",
        config=_outcome(alone),
        rules=tuple(one.rule for one in told if one.confidence == "certain"),
        doubts=tuple(one.rule for one in told if one.confidence != "certain"),
        unset=_unset(told),
    )


_MODELS: dict[str, Model] = {}


def _model(kind: Kind) -> Model:
    """The checkpoint as `fse check --headers full` reads it, read once."""
    if kind.name not in _MODELS:
        with tempfile.TemporaryDirectory() as folder:
            kind.write(Path(folder))
            _MODELS[kind.name] = with_headers(read_model(folder), "full", [])
    return _MODELS[kind.name]


def _unset(findings: Iterable[Finding]) -> Mapping[tuple[int, str], int]:
    counts: Counter[tuple[int, str]] = Counter()
    for finding in findings:
        first, _, last = finding.layers.partition("-")
        for found in filter(None, map(_UNSET.fullmatch, finding.evidence)):
            for layer in range(int(first), int(last or first) + 1):
                counts[layer, found[1]] += int(found[2])
    return counts


def _outcome(report: Report) -> Outcome | None:
    """What a report is certain of."""
    if report.verdict in ("fails", "undecided"):
        return "does_not_start"
    sure = {one.consequence for one in report.findings if one.confidence == "certain" and one.part != "draft"}
    if "start_fails" in sure:
        return "does_not_start"
    return next((outcome for outcome in _BREAKING if outcome in sure), None)


def differs(ours: Said, truth: Truth) -> str | None:
    """How ours differs from the truth, None where it does not.

    What does not start is no question of loading, except that ours has to tell where --quantization-config is refused.
    """
    if truth.outcome == "does_not_start":
        refused = truth.error is not None and "for QuantizationConfigArgs" in truth.error[1]
        return f"refused ({truth.error}), and ours is silent" if refused and ours.full == "sound" else None
    if ours.full != truth.outcome:
        told = truth.error or truth.unset or ""
        return f"{truth.outcome} {told}, ours says {ours.full} by {', '.join(ours.rules) or 'no rule'}"
    if ours.doubts and not ours.rules:
        return f"{truth.outcome}, ours only doubts by {', '.join(ours.doubts)}"
    if truth.outcome == "silent_corruption" and ours.unset and ours.unset != truth.by_layer():
        return f"leaves {truth.by_layer()} bytes, by ours {dict(ours.unset)}"
    return None


def opposite(kind: Kind, ours: Said, truth: Truth) -> str | None:
    """How the config alone is certain of another outcome, None where it is not. One that says in so many words what its
    tensors are not is believed until they are read.
    """
    if kind.recipe.untrue or truth.outcome == "does_not_start" or ours.config in (None, truth.outcome):
        return None
    return f"{truth.outcome}, and the config alone is certain of {ours.config}"
