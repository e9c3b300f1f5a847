"""The fusion variable is set, and no layer of this model is fused.

One line instead of one warning a layer, as the release logs, or of none. It speaks only where the variable is given for
the target, not where fusion is merely what is asked about, and leaves the word to FSE122 where other variables are
lacking, and to FSE150 where a known fault makes the variable do harm.
"""

from collections import Counter
from collections.abc import Iterator

from fse_core import request
from fse_core.grouping import words_of_any
from fse_core.rules import fixes, known_fault, request_incomplete
from fse_core.rules.base import Facts, Hit, Rule

RULE = Rule(id="FSE134", name="flag-no-effect", severity="warning")


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for the whole model."""
    given = request.FUSION in facts.target.environment and facts.target.is_on(request.FUSION)
    part = facts.parts[0] if facts.parts else None
    if not given or part is None or facts.failure is not None:
        return
    if any(layer.decision.decision != "separate" for layer in part.layers):
        return
    if any(request_incomplete.check(facts)) or any(known_fault.minds_the_variable(facts, one) for one in facts.parts):
        return
    if part.layers:
        reasons = Counter(words_of_any(layer) or "no reason given" for layer in part.layers)
        why = "; ".join(reasons)
        what = f"0 of {len(part.layers)} layers are fused ({why})"
    else:
        what = "the model has no layer with shared experts beside routed ones"
    yield Hit(
        message=f"{request.FUSION} has no effect with vLLM {facts.release.version}: {what}.",
        consequence="not_fused",
        evidence=(f"{request.FUSION}={facts.target.variable(request.FUSION)}",),
        fixes=(fixes.fusion_off(),),
    )
