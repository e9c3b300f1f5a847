"""What a loading came to: by the release, and by our own check of the folder with full headers."""

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from conformance.checkpoints.kinds import Kind
from conformance.checkpoints.sharded import Sharded
from fse_core import check
from fse_core.headers import with_headers
from fse_core.read.model import Model
from fse_core.read.safetensors.collect import collect
from fse_core.read.safetensors.kinds import layer_kinds
from fse_core.read.source import read_model
from fse_core.report import Finding, PartName, Report
from fse_core.target import Target

Outcome = Literal["sound", "load_fails", "silent_corruption", "does_not_start"]
_UNSET = re.compile(r"(\S+): (\d+) of \d+ bytes unset")
_PARAMETER = re.compile(r".*\.layers\.(\d+)\..*?(?:routed_experts|shared_experts?)\.(.+)")
_BREAKING: tuple[Outcome, ...] = ("load_fails", "silent_corruption")


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The release's own. `error` is the exception's type and words; `unset` are bytes left and there, by parameter.

    draft: the same of the draft, None where there is none or it was not reached.
    """

    outcome: Outcome
    fused: bool
    error: tuple[str, str] | None = None
    unset: Mapping[str, tuple[int, int]] | None = None
    draft: Self | None = None

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        """From what the live release answered."""
        error, fused = answer["error"], answer["fused"] == [True] and not answer["separate"]
        draft = cls.of(answer["draft"]) if answer.get("draft") else None
        if error is None:
            unset = {name: (left, there) for name, (left, there) in answer["unset"].items()}
            return cls(outcome="silent_corruption" if unset else "sound", fused=fused, unset=unset, draft=draft)
        outcome: Outcome = "load_fails" if error["stage"] == "load" else "does_not_start"
        return cls(outcome=outcome, fused=fused, error=(error["type"], error["message"][:200]), draft=draft)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        error, unset, draft = record.get("error"), record.get("unset"), record.get("draft")
        return cls(
            outcome=record["outcome"],
            fused=record["fused"],
            error=None if error is None else (error[0], error[1]),
            unset={name: (left, there) for name, (left, there) in (unset or {}).items()},
            draft=None if draft is None else cls.from_dict(draft),
        )

    def by_layer(self) -> Mapping[tuple[int, str], int]:
        """The bytes that stay unwritten, by the layer's number and the parameter."""
        found = {_PARAMETER.fullmatch(name): left for name, (left, _) in (self.unset or {}).items()}
        return {(int(match[1]), match[2]): left for match, left in found.items() if match}

    def as_dict(self) -> dict[str, Any]:
        whole: dict[str, Any] = {"outcome": self.outcome, "fused": self.fused}
        whole |= ({"error": self.error} if self.error else {}) | ({"unset": self.unset} if self.unset else {})
        return whole | ({"draft": self.draft.as_dict()} if self.draft else {})


@dataclass(frozen=True, kw_only=True)
class Said:
    """Our own: what is certain of this folder, what the config alone is certain of, and what is only likely with that.

    `unset` are the bytes that stay unwritten by our account, by the layer's number and the parameter. draft: the same
    of the draft, None where it is not asked for.
    """

    full: Outcome
    config: Outcome | None
    likely: Outcome
    rules: tuple[str, ...]
    doubts: tuple[str, ...]
    unset: Mapping[tuple[int, str], int]
    draft: Self | None = None


def said(kind: Kind, release: str, gfx: str) -> Said:
    """What a check of the kind's checkpoint says."""
    target = _target(kind, release, gfx)
    model = _model(kind)
    whole, alone = check(model, target), check(replace(model, headers=None), target)
    return _both(kind, whole, alone)


def sampled(kind: Kind, release: str, gfx: str, index: str) -> Said:
    """What a check of a sample of the kind's headers says, where each expert has a file of its own. `index` is a
    `small` one, one so `large` that it is not read, or `none`.
    """
    target = _target(kind, release, gfx)
    bare = replace(_model(kind), headers=None)
    alone = check(bare, target)
    headers = collect(_sharded(kind, index), "sample", layer_kinds(alone.layers))
    whole = check(replace(bare, headers=headers), target)
    return _both(kind, whole, alone)


_SHARDED: dict[tuple[str, str], Sharded] = {}


def _sharded(kind: Kind, index: str) -> Sharded:
    """Made once of each kind."""
    return _SHARDED.setdefault((kind.name, index), Sharded(kind, index))


def _target(kind: Kind, release: str, gfx: str) -> Target:
    draft = bool(kind.recipe.draft)
    return Target(vllm=release, gfx=gfx, tp=kind.recipe.tp, overlay=kind.overlay, draft=draft)


def _both(kind: Kind, whole: Report, alone: Report) -> Said:
    own = _part(whole, alone, "target")
    return replace(own, draft=_part(whole, alone, "draft")) if kind.recipe.draft else own


def _part(whole: Report, alone: Report, part: PartName) -> Said:
    told = [one for one in whole.findings if one.consequence in _BREAKING and (one.part or "target") == part]
    return Said(
        full=_outcome(whole, part) or "sound",
        config=_outcome(alone, part),
        likely=_outcome(whole, part, doubts=True) or "sound",
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


def _outcome(report: Report, part: PartName, *, doubts: bool = False) -> Outcome | None:
    """What a report is certain of, and with `doubts` what it takes for likely."""
    if report.verdict in ("fails", "undecided"):
        return "does_not_start"
    mine = [one for one in report.findings if (one.part or "target") == part]
    sure = {one.consequence for one in mine if doubts or one.confidence == "certain"}
    if "start_fails" in sure:
        return "does_not_start"
    return next((outcome for outcome in _BREAKING if outcome in sure), None)


def differs(ours: Said, truth: Truth) -> str | None:
    """How ours differs from the truth, None where it does not.

    What does not start is no question of loading, except that ours has to tell where --quantization-config is refused.
    """
    own = _differs(ours, truth)
    if own or ours.draft is None or truth.draft is None:
        return own
    of_draft = _differs(ours.draft, truth.draft)
    return f"draft: {of_draft}" if of_draft else None


def _differs(ours: Said, truth: Truth) -> str | None:
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


def reversed_by(ours: Said, truth: Truth) -> str | None:
    """How what a sample is certain of is not so, None where it is."""
    for own, true in parts(ours, truth):
        if "does_not_start" not in (own.full, true.outcome) and own.full not in ("sound", true.outcome):
            told = true.error or true.unset or ""
            return f"{true.outcome} {told}, and a sample is certain of {own.full} by {', '.join(own.rules)}"
    return None


def parts(ours: Said, truth: Truth) -> Iterator[tuple[Said, Truth]]:
    """Ours and the truth of the target, and of a draft where both know of one."""
    yield ours, truth
    if ours.draft is not None and truth.draft is not None:
        yield ours.draft, truth.draft


def opposite(kind: Kind, ours: Said, truth: Truth) -> str | None:
    """How the config alone is certain of another outcome, None where it is not. One that says in so many words what its
    tensors are not is believed until they are read.
    """
    for said_of, true in () if kind.recipe.untrue else parts(ours, truth):
        if true.outcome != "does_not_start" and said_of.config not in (None, true.outcome):
            return f"{true.outcome}, and the config alone is certain of {said_of.config}"
    return None
