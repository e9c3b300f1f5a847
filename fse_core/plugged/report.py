"""The report of a release with the plugin: the stock release's, and what the plan for each part makes of it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fse_core import pipeline, releases
from fse_core.errors import FseError, ReleaseRaises, Undecided
from fse_core.plugged import findings
from fse_core.plugged.judge import planned
from fse_core.plugged.options import ACCEPT, FUSION, ONLINE, PLUGIN, Options, read
from fse_core.plugged.plan import OLDEST, Plan
from fse_core.plugged.planned import Planned
from fse_core.read.model import Model
from fse_core.report import Decision, Layer, Report, ranked
from fse_core.rules.base import Facts, PartFacts
from fse_core.target import Target


def examined(model: Model, target: Target, *, patience: float | None = None) -> Report:
    """The report. `patience`: seconds that the decisions may take."""
    stock, facts = pipeline.examined(model, replace(target, plugin=False), patience=patience)
    if not target.plugin:
        return stock
    report = replace(stock, target={**stock.target, "plugin": True})
    options = read({name: target.variable(name) or "" for name in (FUSION, PLUGIN, ONLINE, ACCEPT)})
    if report.undecided_reason is not None or not options.active or _too_old(facts):
        return report
    try:
        return _as_planned(report, facts, options)
    except Undecided as error:
        blank = replace(report, layers=(), findings=(), startup_error=None, startup_part=None)
        return replace(blank, verdict="undecided", undecided_reason=str(error))


def _too_old(facts: Facts) -> bool:
    """Whether the plugin leaves the release as it is."""
    return releases.parsed(facts.release.version).numbers < releases.parsed(OLDEST).numbers


def _as_planned(report: Report, facts: Facts, options: Options) -> Report:
    if not releases.is_known(facts.target.vllm):
        raise Undecided(f"whether the plugin knows the functions of vLLM {facts.target.vllm} is not known")
    parts = [_planned(report, facts, part, options) for part in facts.parts]
    told = tuple(findings.of_plugin(facts, parts, options))
    if not any(part.decides for part in parts) or _fails_all_the_same(report, facts, parts):
        return replace(report, findings=ranked((*report.findings, *told)))
    found = findings.of_rules(facts, parts)
    reached = {(layer.part, layer.prefix) for layer in found.layers}
    unreached = (layer for layer in report.layers if (layer.part, layer.prefix) not in reached)
    return replace(
        report,
        layers=(*found.layers, *unreached),
        findings=ranked((*found.findings, *told)),
        startup_error=None,
        startup_part=None,
        verdict="breaks" if found.breaks else pipeline.verdict(found.layers, failed=None),
    )


def _planned(report: Report, facts: Facts, part: PartFacts, options: Options) -> Planned:
    try:
        plan = planned(report, facts, part, options) if part.layers else None
    except Undecided:
        raise
    except (FseError, ReleaseRaises) as error:  # the release then decides alone
        return Planned(facts=part, plan=None, trouble=str(error))
    return Planned(facts=part if plan is None else replace(part, layers=tuple(_layers(part, plan))), plan=plan)


def _layers(part: PartFacts, plan: Plan) -> Iterator[Layer]:
    """The part's layers as they are built by the plan."""
    declined = "; ".join(part.part.declines)
    for layer in part.layers:
        now = layer.decision
        if now.decision != "undecided" and plan.refused is not None:
            now = Decision(decision="separate", reason=plan.refused)
        elif now.decision != "undecided" and plan.fuses and part.part.asks:
            now = Decision(decision="separate", reason=declined) if declined else Decision(decision="fused")
        slots = part.slots[layer.prefix] if now.decision == "fused" else 0
        yield replace(layer, decision=now, slots=slots, findings=())


def _fails_all_the_same(report: Report, facts: Facts, parts: Sequence[Planned]) -> bool:
    """Whether the release does not start with the plugin either. Undecided where that is not known."""
    error = report.startup_error or next((one.decision.error for one in report.layers if one.decision.error), None)
    if error is None:
        return False
    failed = report.startup_part or next(one.part for one in report.layers if one.decision.error)
    if not any(part.decides and part.facts.part.part == failed for part in parts):
        return True
    if error.type == "NotImplementedError" and any(_disagree(part) for part in facts.parts):
        return any(_disagree(part.facts) for part in parts)
    raise Undecided("the release does not start with this model; what it does with the plugin is not known")


def _disagree(part: PartFacts) -> bool:
    return {"fused", "separate"} <= {layer.decision.decision for layer in part.layers}
