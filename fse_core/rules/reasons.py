"""Which of the gate's refusals a layer was given."""

from fse_core.report import Layer
from fse_core.rules.base import Facts, PartFacts


def refused_by(facts: Facts, part: PartFacts, layer: Layer, *words: str, **values: object) -> str | None:
    """The first of these words of the release that the layer's reason is, None where it is none of them."""
    if layer.decision.reason is None:
        return None
    question = facts.question(part, layer)
    known = (name for name in words if name in facts.release.words)
    return next((name for name in known if question.no(name, **values).reason == layer.decision.reason), None)
