"""The draft's shared experts are decided otherwise than the target's.

A draft (MTP) is a model of its own: an exclude entry for its layer, whose number is that of the target's last layer and
more, says nothing about the layers of the target, and the other way round. A draft that runs unfused costs speed with
speculative decoding alone; without it nothing of it is built.
"""

from collections.abc import Iterator

from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where
from fse_core.rules.excluding import excluding

RULE = Rule(id="FSE118", name="draft-differs", severity="info")


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for a draft all of whose layers are decided in one way, and all of the target's in the other."""
    decided = [(part, _decision(part)) for part in facts.parts]
    target = next((how for part, how in decided if part.part.part == "target"), None)
    for part, how in decided:
        if part.part.part == "draft" and how is not None and target is not None and how != target:
            yield _hit(facts, part, fused=how == "fused")


def _decision(part: PartFacts) -> str | None:
    found = {layer.decision.decision for layer in part.layers}
    return found.pop() if len(found) == 1 and found <= {"fused", "separate"} else None


def _hit(facts: Facts, part: PartFacts, *, fused: bool) -> Hit:
    listed = excluding(facts)
    names = tuple(
        entry
        for entry in (listed.entries if listed else ())
        for layer in part.layers
        if entry.startswith(f"{layer.shared}.")
    )
    reason = part.layers[0].decision.reason
    how = "is fused, unlike the target's" if fused else "is not fused, unlike the target's"
    return Hit(
        message=f"{where(part.layers)}: the draft's shared expert {how}."
        + (f" {reason}." if reason else "")
        + " This concerns speculative decoding alone, and no layer of the target.",
        consequence="none" if fused else "not_fused",
        layers=part.layers,
        evidence=listed.evidence(names) if listed and names else (reason or part.part.model_class,),
    )
