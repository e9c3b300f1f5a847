"""What two rules share: fused layers whose shared expert is stored unlike the routed ones, by what the config says."""

from collections.abc import Iterator
from dataclasses import replace

from fse_core.loads.ways import way
from fse_core.quantization.storage import MXFP4, PLAIN, Stored
from fse_core.report import Fix, Layer
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, PartFacts, where
from fse_core.rules.outcome import outcome

_SHOWN = 3


def groups(facts: Facts) -> Iterator[tuple[PartFacts, Stored, tuple[Layer, ...]]]:
    """The fused layers of each part that differ in the same way, but for the entries that say so.

    Where the headers tell how the layer is stored, what the config says of it is no matter.
    """
    for part in facts.parts:
        for stored, alike in facts.by_stored(part, facts.untold(part, part.fused()), _differs).items():
            if stored is not None:
                yield part, stored, alike


def _differs(stored: Stored | None) -> Stored | None:
    if stored is None or stored.routed == stored.shared:
        return None
    return replace(stored, entries=()) if stored.entries else stored


def hit(facts: Facts, part: PartFacts, stored: Stored, layers: tuple[Layer, ...], because: str) -> Hit:
    """The hit for one group; `because` says why it is fused all the same."""
    own_way = way(part.part.model_class, facts.release)
    found = outcome(stored.routed, stored.shared, skips=own_way is not None and own_way.skips)
    entries = entries_of(facts, part, layers)
    hidden, width = (facts.model.text.get(key) for key in ("hidden_size", "moe_intermediate_size"))
    size = f" ({width} x {hidden})" if isinstance(width, int) and isinstance(hidden, int) else ""
    message = (
        f"{where(layers)}: by {stored.place}, the shared expert is stored as {stored.shared.name} and the routed "
        f"experts as {stored.routed.name}{size}. {because} Then {found.words}."
    )
    return Hit(
        message=message,
        consequence=found.consequence,
        confidence=found.confidence if stored.sure else "likely",
        layers=layers,
        evidence=shown(stored, entries),
        fixes=tuple(stored_fixes(facts, part, stored, layers, entries)),
    )


def shown(stored: Stored, entries: tuple[str, ...]) -> tuple[str, ...]:
    """Where the config says it, and the first entries that do."""
    first = [f"{stored.place}: {entry}" for entry in entries[:_SHOWN]]
    more = [f"{stored.place}: {len(entries) - _SHOWN} more"] if len(entries) > _SHOWN else []
    return (*first, *more) or (stored.place,)


def entries_of(facts: Facts, part: PartFacts, layers: tuple[Layer, ...]) -> tuple[str, ...]:
    """The entries that tell the shared experts of these layers from the routed ones."""
    found = (facts.stored(part, layer) for layer in layers)
    return tuple(dict.fromkeys(entry for stored in found if stored is not None for entry in stored.entries))


def stored_fixes(
    facts: Facts, part: PartFacts, stored: Stored, layers: tuple[Layer, ...], entries: tuple[str, ...]
) -> Iterator[Fix]:
    """What helps where the config says that the two are stored apart."""
    if not stored.heard:  # what the release does not hear it does not heed with fusion off either
        rewritten = fixes.rewritten_list(facts, part, stored.place, entries, layers)
        if rewritten is not None:
            yield rewritten
    if stored.heard or not facts.release.branches:
        yield fixes.fusion_off()
    gate = fixes.gate_release(facts)
    if stored.heard and gate is not None:
        yield gate
    if stored.routed == MXFP4 and stored.shared == PLAIN:
        yield fixes.requantized_online(layers[0].shared.rpartition(".")[2])
