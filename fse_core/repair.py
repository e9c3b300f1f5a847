"""What to change so that a model fares better: the fixes of the findings are tried, and what comes of them is checked.

Nothing is proposed that was not checked again and found to be better.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from fse_core.check import check
from fse_core.diff import diff
from fse_core.errors import FseError
from fse_core.report import BREAKING, Fix, Report
from fse_core.target import Target

if TYPE_CHECKING:
    from fse_core.read.model import Model

LAUNCH: Final = ("env", "flag", "quantization_config")
CONFIG: Final = ("config_patch",)
_BAD: Final = ("fails", "breaks")

_MOST_TRIES: Final = 60
_MOST_FIXES: Final = 3


@dataclass(frozen=True, kw_only=True)
class State:
    """A model as it would be served, and what would come of it. `applied` are the fixes that led here."""

    model: "Model"
    target: Target
    report: Report
    applied: tuple[Fix, ...] = ()

    def changes(self, *kinds: str) -> bool:
        """Whether a fix of these kinds led here."""
        return any(fix.kind in kinds for fix in self.applied)


@dataclass(frozen=True, kw_only=True)
class Repair:
    """Where one stands, the best that was found (None where nothing is better), and fixes that were not tried."""

    before: State
    after: State | None
    tried: tuple[Fix, ...]
    untried: tuple[Fix, ...]


def repair(model: "Model", target: Target, safeties: frozenset[str], kinds: frozenset[str]) -> Repair:
    """Tries the fixes of these kinds and safeties, alone and together, the fewest that do the most."""
    before = State(model=model, target=target, report=check(model, target))
    best, tried, tries = before, {}, 0
    frontier = [before]
    for _ in range(_MOST_FIXES):
        reached = []
        for state, fix in _steps(frontier, before, safeties, kinds):
            tries += 1
            if tries > _MOST_TRIES:
                break
            tried[_key(fix)] = fix
            new = _applied(state, fix)
            if new is not None:
                reached.append(new)
        best = min((best, *reached), key=_badness)  # the first of those that are equal, so the fewest fixes
        if not any(finding.severity == "error" for finding in best.report.findings) and best is not before:
            break
        frontier = reached
    offered = {_key(fix): fix for finding in before.report.findings for fix in finding.fixes}
    better = best is not before and diff(before.report, best.report).outcome not in ("worse", "undecided")
    return Repair(
        before=before,
        after=best if better else None,
        tried=tuple(tried.values()),
        untried=tuple(fix for key, fix in offered.items() if key not in tried),
    )


def _steps(
    frontier: list[State], before: State, safeties: frozenset[str], kinds: frozenset[str]
) -> Iterator[tuple[State, Fix]]:
    """Each state with each fix that may be used next."""
    for state in frontier:
        done = {_key(fix) for fix in state.applied}
        for fix in _next(state, before):
            if fix.kind in kinds and fix.safety in safeties and _key(fix) not in done:
                done.add(_key(fix))
                yield state, fix


def _next(state: State, before: State) -> Iterator[Fix]:
    """What the state's findings offer, and of the rest what those at first did.

    While a config can be mended, that goes before. Where a finding says that it has to be, the other fixes help beside
    that and not instead: a report says nothing of how a layer loads that is not fused, and would look well.
    """
    done = {_key(fix) for fix in state.applied}
    fresh = [fix for finding in state.report.findings for fix in finding.fixes if fix.kind in CONFIG]
    yield from fresh
    if all(_key(fix) in done for fix in fresh):
        for finding in (*state.report.findings, *before.report.findings):
            mends = [fix for fix in finding.fixes if fix.kind in CONFIG]
            if not mends or state.changes(*CONFIG):
                yield from (fix for fix in finding.fixes if fix.kind not in CONFIG)


def _badness(state: State) -> tuple[int, ...]:
    """The less the better: a start that fails, errors, layers that do not fuse, warnings."""
    report = state.report
    severities = [finding.severity for finding in report.findings]
    return (
        report.verdict == "undecided",
        report.verdict in _BAD,
        report.startup_error is not None,
        severities.count("error"),
        -sum(layer.decision.decision == "fused" for layer in report.layers),
        severities.count("warning"),
    )


def _applied(state: State, fix: Fix) -> State | None:
    """The state with the fix; None where it cannot be applied to it."""
    try:
        model, target = _changed(state.model, state.target, fix)
        new = State(model=model, target=target, report=check(model, target), applied=(*state.applied, fix))
    except (FseError, TypeError, ValueError):
        return None
    return None if fix.kind in CONFIG and _hides(state.report, new.report) else new


def _hides(old: Report, new: Report) -> bool:
    """Whether a layer is fused as before, and only what told that this breaks is gone.

    The tensors are what they were: such a layer is not repaired.
    """
    breaking = {finding.rule for finding in old.findings if finding.consequence in BREAKING}
    told = {(layer.part, layer.prefix) for layer in old.layers if not breaking.isdisjoint(layer.findings)}
    return any(
        (layer.part, layer.prefix) in told
        and layer.decision.decision == "fused"
        and breaking.isdisjoint(layer.findings)
        for layer in new.layers
    )


def _changed(model: "Model", target: Target, fix: Fix) -> "tuple[Model, Target]":
    if fix.kind == "env":
        return model, replace(target, environment={**target.environment, **fix.patch})
    if fix.kind == "flag":
        return model, replace(target, **{name.strip("-").replace("-", "_"): value for name, value in fix.patch.items()})
    if fix.kind == "quantization_config":
        _since(target, fix.patch.get("vllm"))
        return model, replace(target, overlay=_merged(target.overlay or {}, fix.patch["quantization_config"]))
    return _rewritten(model, fix.patch), target


def _since(target: Target, version: str | None) -> None:
    """ValueError where the release is older than `version`."""
    from fse_core import releases

    if version and releases.parsed(releases.resolve(target.vllm)).numbers < releases.parsed(version).numbers:
        raise ValueError(f"not before {version}")


def _rewritten(model: "Model", patch: Mapping[str, Any]) -> "Model":
    """The model with its config.json changed. ValueError where there is none to change."""
    from fse_core.read.edit import edited
    from fse_core.read.source import model_from_bytes

    if not model.documents:
        raise ValueError("no file was read")
    config, *others = model.documents
    text = edited(config.data.decode("utf-8"), patch)
    quant = others[0].data if others else None
    return model_from_bytes(text.encode("utf-8"), hf_quant_config=quant, source=model.source)


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    both = {key: _merged(old[key], new[key]) for key in new if isinstance(old.get(key), Mapping)}
    return {**old, **new, **both}


def _key(fix: Fix) -> str:
    return json.dumps([fix.kind, fix.patch], sort_keys=True, default=str)
