"""Some layers would fuse and others not, and the release does not start.

A class that fuses demands the same answer for all its layers (from the first release with a gate on). One layer whose
shared expert is listed, or quantized otherwise, is enough: the start ends in a NotImplementedError that counts the
layers and names none. Releases before fuse without asking, and break while they load.

The question is put for each pipeline stage by itself, so that a model may start where the stages happen to divide it.
"""

from collections.abc import Iterator

from fse_core.grouping import layer_words
from fse_core.quantization.storage import MXFP4, PLAIN
from fse_core.report import Fix, Layer
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where
from fse_core.rules.excluding import Excluding, excluding

RULE = Rule(id="FSE109", name="layers-disagree")


def check(facts: Facts) -> Iterator[Hit]:
    """One hit: the layers that are the fewer are those that are odd."""
    if facts.failure is None or facts.failure.type != "NotImplementedError":
        return
    for part in facts.parts:
        fused = part.fused()
        apart = tuple(layer for layer in part.layers if layer.decision.decision == "separate")
        if fused and apart:
            yield _hit(facts, part, fused, apart)


def _hit(facts: Facts, part: PartFacts, fused: tuple[Layer, ...], apart: tuple[Layer, ...]) -> Hit:
    few, many = sorted((apart, fused), key=len)
    does, do = ("would fuse", "would not") if few is fused else ("would not fuse", "would")
    reason = apart[0].decision.reason
    listed = excluding(facts)
    names = tuple(e for layer in apart for e in (listed.entries if listed else ()) if e.startswith(f"{layer.shared}."))
    return Hit(
        message=f"{where(few)} {does}, {layer_words(few[0].part, [one.index for one in many])} {do}: vLLM "
        f"{facts.release.version} demands one answer for all and does not start."
        + (f" Of the first that would not it says: {reason}." if reason else ""),
        consequence="start_fails",
        layers=few,
        evidence=_evidence(facts, listed, names),
        fixes=tuple(_fixes(facts, part, apart)),
    )


def _evidence(facts: Facts, listed: Excluding | None, names: tuple[str, ...]) -> tuple[str, ...]:
    """The first entry about a layer that would not; else what the release says."""
    if listed is not None and names:
        return listed.evidence(names[:1])
    return (f"{facts.failure.type}: {facts.failure.message}",) if facts.failure is not None else ()


def _fixes(facts: Facts, part: PartFacts, apart: tuple[Layer, ...]) -> Iterator[Fix]:
    yield fixes.fusion_off()
    stored = [facts.stored(part, layer) for layer in apart]
    if all(one is not None and one.routed == MXFP4 and one.shared == PLAIN for one in stored):
        yield fixes.requantized_online(apart[0].shared.rpartition(".")[2])
