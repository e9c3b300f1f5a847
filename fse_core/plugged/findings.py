"""What there is to say of a model whose parts are planned: by the rules, and of the plugin itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from fse_core import notices, rules
from fse_core.grouping import numbers
from fse_core.plugged.options import ACCEPT, Options
from fse_core.plugged.plan import Plan
from fse_core.plugged.planned import Planned
from fse_core.report import BREAKING, Finding, Layer, PartName, Severity
from fse_core.rules import known_fault
from fse_core.rules.base import Facts, Hit, Rule, where

Place = tuple[PartName, str]

_UNREAD: Final = (
    "This is by the config alone. The plugin reads the headers of the checkpoint's files too, and may refuse to fuse "
    "or quantize for what they say; a check with all headers (--headers full) takes them into account."
)


def of_rules(facts: Facts, parts: Sequence[Planned]) -> rules.Found:
    """What the rules say of the parts as they are planned."""
    plans = {_place(layer): part.plan for part in parts for layer in part.facts.layers}
    online = {_place(layer) for part in parts if part.online for layer in part.facts.layers}
    layers = tuple(layer for part in parts for layer in part.facts.layers)
    whole = replace(facts, parts=tuple(part.facts for part in parts), failure=None)
    found = rules.findings(whole, layers, lambda rule, hit: _at(hit) not in online and _holds(facts, plans, rule, hit))
    if not online:
        return found
    # What the files hold of these is not what comes to the slots.
    unread = replace(whole, model=replace(whole.model, headers=None))
    more = rules.findings(unread, layers, lambda rule, hit: _at(hit) in online and _holds(facts, plans, rule, hit))
    return rules.Found(
        findings=(*found.findings, *more.findings),
        layers=tuple(b if _place(b) in online else a for a, b in zip(found.layers, more.layers, strict=True)),
        breaks=found.breaks or more.breaks,
    )


def _place(layer: Layer) -> Place:
    return layer.part, layer.prefix


def _at(hit: Hit) -> Place | None:
    return _place(hit.layers[0]) if hit.layers else None


def _holds(facts: Facts, plans: Mapping[Place, Plan | None], rule: Rule, hit: Hit) -> bool:
    """Whether a hit is still true by the plan of its part."""
    at = _at(hit)
    plan = None if at is None else plans[at]
    if plan is None:
        return True
    if plan.online is not None:
        fault = known_fault.fault_of(facts, rule.id, hit.evidence)
        return not (rule.mended_by_quantizing or (fault is not None and fault.mended_by_quantizing))
    left_out = {name.rpartition(".")[0] for name in plan.left_out}
    if hit.consequence in BREAKING and all(one.shared in left_out for one in hit.layers):
        return False  # they are built as they are stored
    return plan.refused is None or not rule.ends_with_fusion


def of_plugin(facts: Facts, parts: Sequence[Planned], options: Options) -> Iterator[Finding]:
    """What the plugin does to a part beside deciding about it, and what of that which was asked for it does not do."""
    for part in parts:
        if part.plan is not None:
            yield from _of_plan(part.plan, part.facts.layers)
        if part.trouble is not None:
            yield _finding("warning", f"The plugin leaves this to the release: {part.trouble}.", part.facts.layers)
    for words in options.unknown:
        yield _finding("warning", f"{words}.", ())
    if facts.model.headers is None and facts.parts:
        yield _finding("info", _UNREAD, ())


def _of_plan(plan: Plan, layers: tuple[Layer, ...]) -> Iterator[Finding]:
    fused = tuple(layer for layer in layers if layer.decision.decision == "fused")
    if plan.online is not None and fused:
        words = (
            f"{where(fused)}: the plugin quantizes the shared experts to {plan.online} while they load ({plan.asked})"
        )
        end = ", which changes their numbers." if plan.lossy else "."
        yield _finding("warning" if plan.lossy else "info", words + end, fused)
    if plan.accepted is not None and fused:
        asked = f"{ACCEPT}: {plan.accepted}"
        yield _finding("warning", f"{where(fused)}: the plugin accepts them ({asked}), untested on hardware.", fused)
    for note in plan.notes:
        yield _finding("warning", f"{where(layers)}: {note}", layers)


def _finding(severity: Severity, words: str, layers: tuple[Layer, ...]) -> Finding:
    return Finding(
        rule=notices.PLUGIN_ACTS.id,
        name=notices.PLUGIN_ACTS.name,
        severity=severity,
        confidence=notices.PLUGIN_ACTS.confidence,
        consequence="none",
        message=words,
        part=layers[0].part if layers else None,
        layers=numbers([layer.index for layer in layers]),
    )
