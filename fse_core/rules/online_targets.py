"""The overlay (`--quantization-config`) does not reach the shared expert as it should.

A target is taken literally unless it is a shell pattern or begins with `re:`. To make MXFP4 of a shared expert on the
fly it has to match all three of its projections, each once, with `mxfp4`, over routed experts that Quark stores as
MXFP4 with MXFP4 activations; all else is refused or ends the start. A release that does not know targets, and a model
without a quantization block, take no notice of them.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from fse_core.quantization.keys import MXFP4_DYNAMIC, MXFP4_STATIC
from fse_core.quantization.matching import NameList
from fse_core.quantization.reading import leaves
from fse_core.report import Consequence, Fix, Layer
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, by, where
from fse_core.rules.failing import raised
from fse_core.rules.reasons import refused_by

RULE = Rule(id="FSE125", name="online-targets", severity="warning")

_RAISES = (
    "Found unmatched shards for",
    "Found multiple quantization_config.targets matches",
    "Found different quantization_config.targets values",
)


def check(facts: Facts) -> Iterator[Hit]:
    """What ends the start, else what has no effect, else what the gate refuses for the overlay's sake."""
    targets = (facts.target.overlay or {}).get("targets")
    if not isinstance(targets, Mapping) or not targets:
        return
    if facts.failure is not None and "targets" not in facts.release.overlay["keys"]:
        yield _unknown(facts, list(targets))
        return
    if not facts.parts:
        return
    for one in raised(facts):
        if one.says(*_RAISES) or (one.says("Layer ") and "quantization_config.targets" in one.failure.message):
            yield _raised(facts, one.layers, f"{one.failure.type}: {one.failure.message}")
            return
    part = facts.parts[0]
    speaks = [target for target in targets if "share" in target]
    if not part.layers or not speaks or facts.failure is not None:
        return
    if part.gate.quantization is None:
        because = "the model has no quantization block, and the overlay is laid on nothing"
        yield _without_effect(facts, speaks, because, "none")
    elif part.gate.overlay is None or "online" not in facts.release.branches:
        yield _without_effect(
            facts, speaks, f"vLLM {facts.release.version} does not take targets for shared experts", "not_fused"
        )
    else:
        yield from _reaching(facts, part, targets)


def _raised(facts: Facts, layers: tuple[Layer, ...], words: str) -> Hit:
    about = f"{where(layers)}: " if layers else ""
    return Hit(
        message=f"{about}the targets do not match each of the shared expert's projections once, and vLLM "
        f"{facts.release.version} does not start: {words}",
        consequence="start_fails",
        severity="error",
        layers=layers,
        evidence=(words,),
        fixes=(_targets(facts, layers[0].shared),) if layers else (),
    )


def _unknown(facts: Facts, targets: list[str]) -> Hit:
    return Hit(
        message=f"vLLM {facts.release.version} knows no targets and does not start with them.",
        consequence="start_fails",
        severity="error",
        evidence=(*_shown(targets), str(facts.failure.message if facts.failure else "")),
        fixes=(fixes.later_release(facts, "0.32.0", "takes them and quantizes into slots"),),
    )


def _shown(targets: list[str]) -> tuple[str, ...]:
    return tuple(f"--quantization-config targets: {target}" for target in targets[:3])


def _without_effect(facts: Facts, targets: list[str], because: str, consequence: Consequence) -> Hit:
    newer = "online" not in facts.release.branches
    return Hit(
        message=f"The target {targets[0]} has no effect: {because}.",
        consequence=consequence,
        evidence=_shown(targets),
        fixes=(fixes.later_release(facts, "0.32.0", "takes them and quantizes into slots"),) if newer else (),
    )


def _reaching(facts: Facts, part: PartFacts, targets: Mapping[str, Any]) -> Iterator[Hit]:
    for (missed, keys), layers in by(part.layers, partial(_reached, facts, part, targets)).items():
        if missed:
            yield _missed(facts, layers, missed, targets)
        elif keys:
            yield _keys_differ(facts, part, layers)


def _reached(facts: Facts, part: PartFacts, targets: Mapping[str, Any], layer: Layer) -> tuple[tuple[str, ...], bool]:
    """The projections that no target matches, and whether the gate refuses what they are quantized to."""
    names = leaves(layer.shared, part.packed)
    missed = tuple(name for name in names if not NameList(tuple(targets)).matches(name, globs=True))
    question = facts.question(part, layer)
    packed = NameList(tuple(targets)).matches(question.projections[0], globs=True)
    missed = tuple(name for name in missed if not (packed and not name.endswith("down_proj")))
    return tuple(name.rpartition(".")[2] for name in missed), _refused(facts, part, layer)


def _refused(facts: Facts, part: PartFacts, layer: Layer) -> bool:
    """Whether the gate refuses the layer for what the overlay makes of it, or for what it is laid on."""
    question, quantization = facts.question(part, layer), part.gate.quantization
    keys = quantization.routed_keys(question) if quantization else None
    values = {
        "key": question.key_text(keys[0] if keys else None),
        "class_name": quantization.class_name if quantization else "",
    }
    return (
        refused_by(facts, part, layer, "online_routed_key", "online_keys_differ", "online_class", **values) is not None
    )


def _missed(facts: Facts, layers: tuple[Layer, ...], missed: tuple[str, ...], targets: Mapping[str, Any]) -> Hit:
    none = len(missed) > 2
    said = "no target matches its projections" if none else f"no target matches {' and '.join(missed)}"
    return Hit(
        message=f"{where(layers)}: the shared expert is not quantized on the fly, for {said}. A target is a full "
        "name, a shell pattern, or re: and a regular expression.",
        consequence="not_fused",
        layers=layers,
        evidence=_shown(list(targets)),
        fixes=(_targets(facts, layers[0].shared),),
    )


def _keys_differ(facts: Facts, part: PartFacts, layers: tuple[Layer, ...]) -> Hit:
    question = facts.question(part, layers[0])
    quantization = part.gate.quantization
    keys = quantization.routed_keys(question) if quantization else None
    fits = keys == (MXFP4_STATIC, MXFP4_DYNAMIC)
    weight, activation = (question.key_text(key) for key in keys or (None, None))
    have = f"their weights are {weight} and their activations {activation}" if keys else "they are not Quark's"
    return Hit(
        message=f"{where(layers)}: vLLM {facts.release.version} fuses a shared expert that is quantized on the fly "
        f"only as MXFP4, into routed experts that Quark stores as MXFP4 with MXFP4 activations; here {have}.",
        consequence="not_fused",
        layers=layers,
        evidence=(str(layers[0].decision.reason),),
        fixes=(_targets(facts, layers[0].shared),) if fits else (),
    )


def _targets(facts: Facts, shared: str) -> Fix:
    fix = fixes.requantized_online(shared.rpartition(".")[2])
    pattern = next(iter(fix.patch["quantization_config"]["targets"]))
    return Fix(
        kind=fix.kind, safety=fix.safety, summary=f"write the one target {pattern} with mxfp4 instead", patch=fix.patch
    )
