"""What is known beyond the decision. One file a rule; those that define `RULE` and `check` are found here.

A rule's id never changes and is never given to another. FSE101 to FSE140 are what people ran into, by the rank that it
was given when the reports were collected: formats that differ, exclude lists that mean nothing, scales, widths, drafts,
parallelism, readers. FSE150 and up are what is known of the releases themselves: their faults, versions that none of
them is, and what would change the answer of their gate.
"""

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from fse_core.errors import InputError, OutOfTime, ReleaseRaises, Undecided
from fse_core.grouping import numbers
from fse_core.report import BREAKING, SEVERITIES, Finding, Layer
from fse_core.rules.base import Check, Facts, Hit, Rule
from fse_core.rules.confirmed import confirmed


@dataclass(frozen=True, kw_only=True)
class Known:
    """A rule as it is found. `text` explains it to people."""

    rule: Rule
    text: str
    check: Check


@dataclass(frozen=True, kw_only=True)
class Found:
    """The findings, the worst first; the layers with the ids of theirs; whether a fused target layer surely breaks."""

    findings: tuple[Finding, ...]
    layers: tuple[Layer, ...]
    breaks: bool


@functools.cache
def known() -> tuple[Known, ...]:
    """All rules, by their ids. ValueError where two have the same id or name."""
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found = [
        Known(rule=module.RULE, text=module.__doc__ or "", check=module.check)
        for module in modules
        if hasattr(module, "RULE")
    ]
    for names in ([one.rule.id for one in found], [one.rule.name for one in found]):
        if len(set(names)) < len(names):
            raise ValueError(f"two rules share one of {sorted(names)}")
    return tuple(sorted(found, key=lambda one: one.rule.id))


def findings(facts: Facts, layers: tuple[Layer, ...], keep: Callable[[Rule, Hit], bool] | None = None) -> Found:
    """What the rules say, as far as `keep` lets it stand; `layers` are all of the report's."""
    hits = [told for told in confirmed(facts, _hits) if keep is None or keep(*told)]
    told = list(_standing(hits))
    told.sort(key=lambda pair: (SEVERITIES.index(pair[1].severity or pair[0].severity), pair[1].part == "draft"))
    ids: dict[tuple[str, str], tuple[str, ...]] = {}
    for rule, hit in told:
        alone = (rule.id,)
        for layer in hit.layers:
            place = (layer.part, layer.prefix)
            before = ids.setdefault(place, alone)
            if rule.id not in before:
                ids[place] = (*before, rule.id)
    return Found(
        findings=tuple(_finding(rule, hit) for rule, hit in told),
        layers=tuple(_marked(layer, ids) for layer in layers) if ids else layers,
        breaks=any(_breaks(rule, hit) for rule, hit in told),
    )


def _marked(layer: Layer, ids: Mapping[tuple[str, str], tuple[str, ...]]) -> Layer:
    own = ids.get((layer.part, layer.prefix))
    return layer if own is None else Layer(**{**vars(layer), "findings": own})


def _hits(facts: Facts) -> Iterator[tuple[Rule, Hit]]:
    for one in known():
        try:
            yield from [(one.rule, hit) for hit in one.check(facts)]
        except OutOfTime:
            raise
        except (InputError, ReleaseRaises, Undecided):
            # What cannot be read was told where the release reads it; a rule has nothing to add.
            continue


def _standing(told: list[tuple[Rule, Hit]]) -> Iterator[tuple[Rule, Hit]]:
    """The hits without those that others make moot."""
    moots = ((rule, hit) for rule, hit in told if hit.moots and not rule.about_slots)
    sure = [hit for rule, hit in moots if _certain(rule, hit) and hit.consequence in BREAKING]
    broken = {(layer.part, layer.prefix) for hit in sure for layer in hit.layers}
    errors = [hit for rule, hit in told if (hit.severity or rule.severity) == "error"]
    wrong = {(layer.part, layer.prefix) for hit in errors for layer in hit.layers}
    for rule, hit in told:
        places = {(layer.part, layer.prefix) for layer in hit.layers}
        moot = rule.about_slots and places and places <= broken
        if not (moot or (rule.about_gain and places & wrong)):
            yield rule, hit


def _certain(rule: Rule, hit: Hit) -> bool:
    return (hit.confidence or rule.confidence) == "certain"


def _breaks(rule: Rule, hit: Hit) -> bool:
    fused = any(layer.part == "target" and layer.decision.decision == "fused" for layer in hit.layers)
    return _certain(rule, hit) and fused and hit.consequence in BREAKING


def _finding(rule: Rule, hit: Hit) -> Finding:
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=hit.severity or rule.severity,
        confidence=hit.confidence or rule.confidence,
        consequence=hit.consequence,
        message=hit.message,
        part=hit.part,
        layers=numbers([layer.index for layer in hit.layers]),
        evidence=hit.evidence,
        fixes=hit.fixes,
    )
