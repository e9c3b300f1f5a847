"""A fault that is known of the release strikes this model.

Each release's data states what is known to go wrong in it: which vLLM classes, under which conditions, and what then
happens. `confidence` tells what was measured with the release itself from what was read in its source or in reports.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final, cast

from fse_core import releases, request
from fse_core.quantization.fp8 import Fp8
from fse_core.quantization.storage import FP8_BLOCK, FP8_CHANNEL, FP8_TENSOR, PLAIN
from fse_core.read.expert_dtype import expert_dtype
from fse_core.releases.release import Fault
from fse_core.report import Confidence, Consequence, Fix, Layer, Severity
from fse_core.rules import fixes, routing, told
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, by, where

RULE = Rule(id="FSE150", name="known-fault", ends_with_fusion=True, counts_unsure=True)

Condition = Callable[[Facts, PartFacts, Layer], bool]

_SEVERITIES: Mapping[str, Severity] = {"none": "info", "not_fused": "warning", "slower": "warning"}


def _class_name(part: PartFacts) -> str | None:
    return None if part.gate.quantization is None else part.gate.quantization.class_name


def _fusion_requested(facts: Facts, part: PartFacts, _layer: Layer) -> bool:
    return request.refusal(part.part.request, facts.target, facts.release) is None


def _fusion_off(facts: Facts, _part: PartFacts, _layer: Layer) -> bool:
    return not facts.target.is_on(request.FUSION)


def _aiter_experts(facts: Facts, _part: PartFacts, _layer: Layer) -> bool:
    return request.aiter_moe(facts.target, facts.release)


def _triton_experts(facts: Facts, _part: PartFacts, _layer: Layer) -> bool:
    return facts.target.moe_backend == "triton"


def _aiter_mode(_facts: Facts, _part: PartFacts, layer: Layer) -> bool:
    return layer.mode == "aiter"


def _fp4_experts(facts: Facts, _part: PartFacts, _layer: Layer) -> bool:
    return bool(expert_dtype(facts.model) == "fp4")


def _fp8_block(_facts: Facts, part: PartFacts, _layer: Layer) -> bool:
    quantization = part.gate.quantization
    return isinstance(quantization, Fp8) and quantization.block is not None


def _quark_excludes_shared(facts: Facts, part: PartFacts, layer: Layer) -> bool:
    stored = facts.stored(part, layer)
    return _class_name(part) == "QuarkConfig" and stored is not None and stored.shared == PLAIN != stored.routed


def _row_scales(facts: Facts, part: PartFacts, layer: Layer) -> bool:
    """FP8 with one scale a row, of one dimension: compressed-tensors writes a column."""
    stored = facts.stored(part, layer)
    return _class_name(part) != "CompressedTensorsConfig" and stored is not None and stored.shared == FP8_CHANNEL


def _method_not_adapted(facts: Facts, part: PartFacts, layer: Layer) -> bool:
    """A quantization method other than FP8, of Fp8Config or compressed-tensors."""
    name = _class_name(part)
    if name in (None, "Fp8Config"):
        return False
    stored = facts.stored(part, layer)
    if name != "CompressedTensorsConfig":
        return True
    return stored is not None and stored.routed not in (FP8_BLOCK, FP8_CHANNEL, FP8_TENSOR)


CONDITIONS: Mapping[str, Condition] = {
    "fusion_requested": _fusion_requested,
    "fusion_off": _fusion_off,
    "aiter_experts": _aiter_experts,
    "triton_experts": _triton_experts,
    "aiter_mode": _aiter_mode,
    "fp4_experts": _fp4_experts,
    "fp8_block": _fp8_block,
    "quark_excludes_shared": _quark_excludes_shared,
    "row_scales": _row_scales,
    "method_not_adapted": _method_not_adapted,
    "one_group_softmax": lambda facts, _part, _layer: routing.one_group_softmax(facts.model),
    "one_group_sigmoid": lambda facts, _part, _layer: routing.one_group_sigmoid(facts.model),
    "experts_not_in_groups": lambda facts, _part, _layer: routing.experts_not_in_groups(facts.model),
}
"""What a fault's `when` may name."""

_OF_ONE_LAYER: Final = frozenset({"aiter_mode", "quark_excludes_shared", "row_scales", "method_not_adapted"})
"""Those that may hold for one layer and not for another."""


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for each fault and part that it strikes."""
    for name, fault in facts.release.faults.items():
        for part in facts.parts:
            if part.part.model_class in fault.classes and fault.part in (None, part.part.part):
                layers = _struck(fault, facts, part)
                for left, alike in by(layers, partial(_unfilled, facts, part)).items():
                    hit = _hit(facts, name, fault, alike)
                    if left is not None:
                        yield replace(hit, evidence=(*hit.evidence, *left), moots=False) if left else hit


def _unfilled(facts: Facts, part: PartFacts, layer: Layer) -> tuple[str, ...] | None:
    """What stays unwritten by that, where the headers tell; what else is wrong with the layer is then told as well.

    None where nothing is stored of the layer, so that it is not loaded at all.
    """
    loading = facts.loading(part, layer)
    faults = {} if loading is None else {fault.cause: fault for fault in loading.faults}
    if "absent" in faults:
        return None
    return told.left(faults["unfilled"]) if "unfilled" in faults else ()


def minds_the_variable(facts: Facts, part: PartFacts) -> bool:
    """Whether a fault strikes a layer of the part because fusion is asked for."""
    faults = [one for one in facts.release.faults.values() if "fusion_requested" in one.when]
    mine = [one for one in faults if part.part.model_class in one.classes and one.part in (None, part.part.part)]
    return any(_struck(fault, facts, part) for fault in mine)


def fault_of(facts: Facts, rule: str, evidence: tuple[str, ...]) -> Fault | None:
    """The fault that is told of with this evidence by this rule's id, None where that is another rule's."""
    return facts.release.faults[evidence[0].partition(":")[0]] if rule == RULE.id else None


def _struck(fault: Fault, facts: Facts, part: PartFacts) -> tuple[Layer, ...]:
    """The layers for which all of the fault's conditions hold; those that are not of one layer are asked once."""
    layers = tuple(layer for layer in part.layers if fault.decision in ("any", layer.decision.decision))
    whole, single = ([name for name in fault.when if (name in _OF_ONE_LAYER) is one] for one in (False, True))
    if not layers or not all(CONDITIONS[name](facts, part, layers[0]) for name in whole):
        return ()
    if not single:
        return layers
    return tuple(layer for layer in layers if all(CONDITIONS[name](facts, part, layer) for name in single))


def _hit(facts: Facts, name: str, fault: Fault, layers: tuple[Layer, ...]) -> Hit:
    return Hit(
        message=f"{where(layers)}: vLLM {facts.release.version} has a known fault. {fault.text}",
        consequence=cast(Consequence, fault.consequence),
        severity=_SEVERITIES.get(fault.consequence, "error"),
        confidence=cast(Confidence, fault.confidence),
        layers=layers,
        evidence=(f"{name}: {fault.source}",),
        fixes=tuple(_fixes(facts, name, fault)),
    )


def _fixes(facts: Facts, name: str, fault: Fault) -> Iterator[Fix]:
    if fault.decision == "fused" or "fusion_requested" in fault.when:
        yield fixes.fusion_off()
    newer = releases.known()[releases.known().index(facts.release.version) + 1 :]
    cured = next((version for version in newer if name not in releases.load(version).faults), None)
    if cured is not None:
        summary = f"use vLLM {cured}, which does not have it"
        yield Fix(kind="release", safety="lossless", summary=summary, patch={"vllm": cured})
