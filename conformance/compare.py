"""Holds our report against the release's answer, layer by layer and word for word."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance import truth
from conformance.case import Case
from conformance.truth import Key, Said
from fse_core import releases
from fse_core.errors import FseError
from fse_core.report import Layer, Report

NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One thing about which the two disagree."""

    case: str
    what: str
    release: str
    ours: str

    def __str__(self) -> str:
        return f"{self.case}: {self.what}\n    release: {self.release}\n    ours:    {self.ours}"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """`compared` counts the layers, and the startup errors, about which the release said something, `decided` those
    layers about which it decided.
    """

    compared: int
    decided: int
    differences: tuple[Difference, ...]

    @property
    def agreed(self) -> int:
        return self.compared - len(self.differences)


def summary(differences: Iterable[Difference]) -> Iterator[str]:
    """The differences in words, those that differ in nothing but numbers as one."""
    groups: dict[tuple[str, ...], list[Difference]] = {}
    for difference in differences:
        texts = (difference.what, difference.release, difference.ours)
        groups.setdefault((difference.case, *(NUMBER.sub("#", text) for text in texts)), []).append(difference)
    for first, *others in groups.values():
        yield f"{first}\n    (and {len(others)} more like it)" if others else str(first)


def judge(case: Case, answer: Mapping[str, Any]) -> Comparison:
    """Run our own check on `case`, and compare."""
    from fse_core.check import check

    try:
        report = check(case.model(), case.target)
    except (FseError, AssertionError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        return _no_report(case, answer, error)
    return compare(case, report, answer)


def compare(case: Case, report: Report, answer: Mapping[str, Any]) -> Comparison:
    """What `report` says of `case` against what the release answered."""
    said = truth.layers(answer)
    if not releases.load(case.target.vllm).branches:  # without a gate, nothing tells what a class's reason was
        said = {key: replace(each, silent=True) for key, each in said.items()}
    ours: dict[Key, Layer] = {(layer.part, layer.experts): layer for layer in report.layers}
    if _is_not_predicted(report):
        return Comparison(compared=0, decided=0, differences=())
    layer_rows = list(_layer_rows(ours, said, answer, staged=case.target.pp > 1))
    rows = [*layer_rows, *_startup_rows(report, answer)]
    differing = (
        Difference(case=case.name, what=what, release=release, ours=own)
        for what, release, own in rows
        if truth.sorted_sets(release) != truth.sorted_sets(own)
    )
    decided = sum(1 for _, release, _ in layer_rows if release != "undecided")
    return Comparison(compared=len(rows), decided=decided, differences=tuple(differing))


def _is_not_predicted(report: Report) -> bool:
    """What the Transformers backend makes of a model, and slots for what a config does not have, are left undecided."""
    reason = report.undecided_reason or ""
    return "has no class of its own" in reason or "for a shared expert of width 0" in reason


def _no_report(case: Case, answer: Mapping[str, Any], error: Exception) -> Comparison:
    said = truth.layers(answer)
    found = f"{len(said)} layers" if said else str(truth.startup_error(answer))
    text = f"{type(error).__name__}: {error}"
    difference = Difference(case=case.name, what="no report", release=found, ours=text)
    return Comparison(compared=1, decided=len(said), differences=(difference,))


def _layer_rows(
    ours: Mapping[Key, Layer], said: Mapping[Key, Said], answer: Mapping[str, Any], *, staged: bool
) -> Iterator[tuple[str, str, str]]:
    """A row for each layer: what it is, the release's words, ours."""
    for key, layer in ours.items():
        release = said.get(key) or _unreached(layer, answer, staged=staged)
        raised = truth.raised_in(answer, key)
        if raised and layer.decision.decision == "error":
            release = Said(decision="error", error=raised)
        if release is not None:
            yield _named(key), *_shown(release, layer)
    asked = {(entry["part"], entry["experts"]) for entry in answer["decisions"]}
    for key, release in said.items():
        if key not in ours and (key in asked or release.slots):
            yield _named(key), release.shown(), "no such layer"
    yield from _unlisted(ours, answer)


def _unreached(layer: Layer, answer: Mapping[str, Any], *, staged: bool) -> Said | None:
    """What the release says of a layer about which it left no word; None where that says nothing.

    Pipeline stages are built one after the other here, and at the same time in earnest: one that fails says nothing of
    the layers of the next.
    """
    if _is_separate(layer, answer):
        return Said(decision="separate")
    if staged and truth.ended_by(answer) is not None:
        return None
    if truth.ended_by(answer) is not None:
        # A class that asks no gate leaves no word about the layer in which it stopped.
        silent = not answer["decisions"] and layer.decision.reason is None
        known = truth.is_about_fusion(answer) and not (silent and layer.decision.decision == "separate")
        return Said(decision="undecided") if known else None
    if layer.part == "draft" and answer["fused"]["draft"] is None:
        return None
    return Said(decision="no such layer")


def _is_separate(layer: Layer, answer: Mapping[str, Any]) -> bool:
    """A shared expert of that layer was built as a module, though its experts are not the release's usual ones."""
    return any(_belongs(row, layer) for row in answer["separate"])


def _belongs(row: Mapping[str, Any], layer: Layer) -> bool:
    """A draft's modules are not named for its layers' prefixes: there the routed experts beside them must tell."""
    same_number = layer.part == "target" and f".{layer.index}." in row["module"]
    return row["part"] == layer.part and (row["experts"] == layer.experts or same_number)


def _unlisted(ours: Mapping[Key, Layer], answer: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Shared experts that the release built in layers that we do not list."""
    for row in answer["separate"]:
        if not any(_belongs(row, layer) for layer in ours.values()):
            yield f"{row['part']} {row['module']}", "a separate shared expert", "no such layer"


def _named(key: Key) -> str:
    return " ".join(key)


def _shown(release: Said, layer: Layer) -> tuple[str, str]:
    """Both sides in words, with the slots of a fused layer where the release got so far as to build them."""
    decision = layer.decision
    error = (decision.error.type, decision.error.message) if decision.error else None
    reason = None if release.silent else decision.reason
    ours = Said(decision=decision.decision, reason=reason, error=error).shown()
    if release.decision == "fused" and release.slots is not None:
        suffix = f" in {layer.slots} slots" if decision.decision == "fused" else ""
        return f"{release.shown()} in {release.slots} slots", ours + suffix
    return release.shown(), ours


def _startup_rows(report: Report, answer: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The startup error: one that lies on the way must be ours too, and ours must be the release's."""
    released = truth.startup_error(answer)
    ours = (report.startup_error.type, report.startup_error.message) if report.startup_error else None
    about_fusion = released is not None and truth.is_about_fusion(answer)
    if about_fusion or (ours is not None and truth.ended_by(answer) is None) or (ours and ours == released):
        yield "startup", _error(released), _error(ours)


def _error(error: tuple[str, str] | None) -> str:
    return "starts" if error is None else f"{error[0]}: {error[1]}"
