"""The gate of this release takes an entry that does not concern the layer for one that leaves its shared expert out.

The first gate for Quark looks for the text `shared_expert` in the whole exclude list. An entry for
`mlp.shared_expert_gate`, which is 16-bit by design and no part of the shared expert, or one for the draft's layer, is
then enough for it to refuse every layer, on just those checkpoints that it was made for.
"""

from collections.abc import Iterator

from fse_core import releases
from fse_core.report import Layer
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where
from fse_core.rules.excluding import excluding
from fse_core.rules.reasons import refused_by

RULE = Rule(id="FSE121", name="vetoed-by-text", severity="warning")


def check(facts: Facts) -> Iterator[Hit]:
    """The layers of each part that no entry about the shared expert concerns."""
    listed = excluding(facts)
    if not facts.release.has("quark_excludes_by_text") or listed is None:
        return
    entries = tuple(entry for entry in listed.entries if "shared_expert" in entry)
    for part in facts.parts:
        layers = tuple(layer for layer in part.layers if _vetoed(facts, part, layer))
        if layers and entries:
            yield _hit(facts, part, layers, listed.evidence(entries))


def _vetoed(facts: Facts, part: PartFacts, layer: Layer) -> bool:
    if refused_by(facts, part, layer, "quark_excludes") is None:
        return False
    stored = facts.stored(part, layer)
    return stored is not None and stored.routed == stored.shared


def _hit(facts: Facts, part: PartFacts, layers: tuple[Layer, ...], evidence: tuple[str, ...]) -> Hit:
    known = releases.known()
    later = known[known.index(facts.release.version) + 1 :]
    cured = next((name for name in later if not releases.load(name).has("quark_excludes_by_text")), None)
    because = "asks about the shared expert's own projections"
    return Hit(
        message=f"{where(layers)}: not fused for entries that are about something else: a shared expert's gate, or the "
        f"shared expert of another layer. vLLM {facts.release.version} looks for the text shared_expert alone.",
        consequence="not_fused",
        layers=layers,
        evidence=evidence,
        fixes=() if cured is None else (fixes.later_release(facts, cured, because),),
    )
