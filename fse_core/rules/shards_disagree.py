"""One half of a fused projection is listed or quantized otherwise than the other half.

The release makes one module of `gate_proj` and `up_proj` (and one of q, k and v). A list that names one and not the
other leaves it no answer, and it does not start; with fusion off neither, for the shared expert's own module is asked
in the same way. Usually the list was cut, or written by hand.
"""

from collections.abc import Iterator

from fse_core.names import Packed
from fse_core.quantization.matching import shard_names
from fse_core.report import Fix, Layer
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where
from fse_core.rules.excluding import Excluding, excluding
from fse_core.rules.failing import raised

RULE = Rule(id="FSE111", name="shards-disagree")

_WORDS = (
    "Detected some but not all shards of",
    "Found different quantization schemes for the shards of",
    "Found a different quantization configuration for",
)


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for what was raised, with all layers of its part whose lists are cut in the same way."""
    for one in raised(facts):
        if one.says(*_WORDS):
            parts = (one.part,) if one.part else facts.parts[-1:]
            yield from (_hit(facts, part, f"{one.failure.type}: {one.failure.message}") for part in parts)
            return


def _hit(facts: Facts, part: PartFacts, words: str) -> Hit:
    listed = excluding(facts)
    halves = {layer: _halves(listed, layer, part.packed) for layer in part.layers} if listed else {}
    cut = {layer: half for layer, half in halves.items() if half}
    layers = tuple(cut)
    there = tuple(name for half in cut.values() for name in half[0])
    lacking = tuple(name for half in cut.values() for name in half[1])
    about = f"{where(layers)}: " if layers else ""
    lists = ""
    if listed and cut:
        there_leaf, lacking_leaf = (names[0].rpartition(".")[2] for names in (there, lacking))
        lists = f"{listed.path} has {there_leaf} of the shared expert and not {lacking_leaf}. "
    return Hit(
        message=f"{about}{lists}vLLM {facts.release.version} makes one module of the two and does not start: {words}",
        consequence="start_fails",
        layers=layers,
        evidence=listed.evidence(there[:1]) if listed and there else (words,),
        fixes=tuple(_fixes(facts, listed, lacking)),
    )


def _halves(listed: Excluding, layer: Layer, packed: Packed) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The shards of the layer's shared expert that are listed and those that are not, None unless there are both."""
    names = shard_names(f"{layer.shared}.gate_up_proj", packed) or ()
    there = tuple(name for name in names if name in listed.entries)
    lacking = tuple(name for name in names if name not in there)
    return (there, lacking) if there and lacking else None


def _fixes(facts: Facts, listed: Excluding | None, lacking: tuple[str, ...]) -> Iterator[Fix]:
    if listed is None or listed.nested or not lacking:
        return
    patch = fixes.block_patch(facts, {listed.key: [*listed.entries, *lacking]})
    if patch is not None:
        summary = (
            f"list {', '.join(lacking[:2])}{' ...' if len(lacking) > 2 else ''} too, if stored like the other half"
        )
        yield Fix(kind="config_patch", safety="needs-evaluation", summary=summary, patch=patch)
