"""The pipeline: facts, then family and quantization, then what the release decides for each layer."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from fse_core import releases, request, rules
from fse_core.decide import Build, failure_of
from fse_core.errors import InputError, OutOfTime, ReleaseRaises, Undecided
from fse_core.families import families
from fse_core.families.base import Part
from fse_core.quantization.gate import Gate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.report import Failure, Layer, PartName, Report, Verdict
from fse_core.rules.base import Facts, PartFacts
from fse_core.target import Target

T = TypeVar("T")

_PATIENCE = 2.0
"""Seconds that the decisions may take. Real models take milliseconds; a config made to be slow is undecided."""


def examined(model: Model, target: Target, *, patience: float | None = None) -> tuple[Report, Facts]:
    """The report, and the facts that its findings come from. `patience`: seconds that the decisions may take."""
    until = time.monotonic() + (_PATIENCE if patience is None else patience)
    release = releases.load(target.vllm)
    release.require(target)
    report = _blank(model, replace(target, vllm=release.version), release)
    facts = Facts(model=model, target=target, release=release)
    try:
        decided, parts = _decided(report, model, target, release, until)
        whole = replace(facts, parts=parts, failure=decided.startup_error)
        return _with_findings(decided, whole), whole
    except (InputError, Undecided) as error:
        undecided = replace(report, undecided_reason=str(error), out_of_time=isinstance(error, OutOfTime))
        return _with_findings(undecided, facts), facts


def _with_findings(report: Report, facts: Facts) -> Report:
    found = rules.findings(facts, report.layers)
    breaks = found.breaks and report.verdict == "fuses"
    worst: Verdict = "breaks" if breaks else report.verdict
    return replace(report, findings=found.findings, layers=found.layers, verdict=worst)


def _blank(model: Model, target: Target, release: Release) -> Report:
    reason = request.refusal("aiter", target, release)
    return Report(
        source=model.source,
        architecture=_readable(lambda: model.architecture),
        model_type=_readable(lambda: model.model_type),
        layer_count=_readable(lambda: model.text.optional_integer("num_hidden_layers")),
        quantization=None,
        target=target.as_dict(),
        verdict="undecided",
        requested=reason is None,
        requested_reason=reason,
    )


def _readable(fact: Callable[[], T]) -> T | None:
    """A fact for the report's head, None where the config does not state it as it should."""
    try:
        return fact()
    except InputError:
        return None


def _decided(
    report: Report, model: Model, target: Target, release: Release, until: float
) -> tuple[Report, tuple[PartFacts, ...]]:
    """The report without findings, and the parts that were decided about."""
    parts = _parts(model, target, release)
    if parts:
        reason = request.refusal(parts[0].request, target, release)
        report = replace(report, requested=reason is None, requested_reason=reason)
    failure: Failure | None = None
    gate = Gate()
    try:
        gate = Gate.of(model, target, release)
    except ReleaseRaises as raised:
        failure = failure_of(raised)
    if gate.quantization is not None:
        report = replace(report, quantization=gate.class_name)
    build = Build(model=model, target=target, release=release, checkpoint=gate, gate=gate, packed={}, until=until)
    layers: list[Layer] = []
    decided: list[PartFacts] = []
    failed: PartName | None = None if failure is None else "target"
    for part in parts:
        if failed is not None:
            layers += build.not_reached(part.layers, part)
            continue
        build = build.entering(part)
        found, failure = build.part(part)
        layers += found
        decided.append(PartFacts(part=part, gate=build.gate, packed=build.packed, layers=found))
        if failure is not None or any(layer.decision.error is not None for layer in found):
            failed = part.part
    report = replace(
        report,
        layers=tuple(layers),
        startup_error=failure,
        startup_part=failed if failure is not None else None,
        verdict=verdict(layers, failed),
    )
    return report, tuple(decided)


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    names = model.config.strings("architectures", [])
    if not names:
        raise Undecided("config.json names no architecture (architectures)")
    ours = [name for name in names if name in families()]
    if not ours:
        raise Undecided(f"the architecture {names[0]} is not known to this version of fse")
    known = next((name for name in ours if _has_class(release, name)), None)
    if known is None:
        raise Undecided(f"vLLM {release.version} has no class of its own for the architecture {ours[0]}")
    return families()[known].parts(model, target, release)


def _has_class(release: Release, architecture: str) -> bool:
    return architecture in release.architectures or architecture in families()[architecture].unregistered


def verdict(layers: Sequence[Layer], failed: PartName | None) -> Verdict:
    """What the layers come to where nothing breaks. A draft's never change the target's."""
    if failed == "target":
        return "fails"
    decisions = {layer.decision.decision for layer in layers if layer.part == "target"}
    if not decisions:
        return "not_applicable"
    return "fuses" if "fused" in decisions else "separate"
