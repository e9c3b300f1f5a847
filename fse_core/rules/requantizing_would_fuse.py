"""Only the precision of the shared expert stands in the way of fusion, and that can be changed.

The routed experts are MXFP4 with MXFP4 activations, and the list leaves the shared expert in 16 bits. From 0.32.0 on
the release makes MXFP4 of it while it loads, if a target of `--quantization-config` says so, and fuses; `fse convert`
does the same to the checkpoint, for all releases that have a gate. Either changes the model's numbers: evaluate it in
full, by both filters of GSM8K and with all of its questions.
"""

from collections.abc import Iterator

from fse_core.quantization.keys import MXFP4_DYNAMIC, MXFP4_STATIC
from fse_core.quantization.storage import MXFP4, PLAIN
from fse_core.report import Fix, Layer
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where
from fse_core.rules.excluding import excluding
from fse_core.rules.reasons import refused_by

RULE = Rule(id="FSE153", name="requantizing-would-fuse", severity="info")


def check(facts: Facts) -> Iterator[Hit]:
    """The target's layers, where all of them are refused for this alone."""
    part = facts.parts[0] if facts.parts else None
    if part is None or not part.layers or facts.failure is not None or part.part.model_class.startswith("DeepseekV4"):
        return
    if all(_only_precision(facts, part, layer) for layer in part.layers):
        yield _hit(facts, part.layers)


def _only_precision(facts: Facts, part: PartFacts, layer: Layer) -> bool:
    if refused_by(facts, part, layer, "quark_excludes") is None:
        return False
    stored, quantization = facts.stored(part, layer), part.gate.quantization
    if stored is None or quantization is None or (stored.routed, stored.shared) != (MXFP4, PLAIN):
        return False
    return quantization.routed_keys(facts.question(part, layer)) == (MXFP4_STATIC, MXFP4_DYNAMIC)


def _hit(facts: Facts, layers: tuple[Layer, ...]) -> Hit:
    listed = excluding(facts)
    entries = tuple(entry for entry in (listed.entries if listed else ()) if "shared_expert" in entry)
    online = fixes.requantized_online(layers[0].shared.rpartition(".")[2])
    offline = Fix(
        kind="requantize",
        safety="changes-numerics",
        summary="write a checkpoint whose shared experts are MXFP4 too: fse convert",
        patch={"format": "mxfp4"},
    )
    return Hit(
        message=f"{where(layers)}: not fused as stored, for the shared expert alone is left in 16 bits. Its routed "
        "experts are MXFP4 with MXFP4 activations, so that it would fuse in MXFP4 as well.",
        consequence="not_fused",
        layers=layers,
        evidence=listed.evidence(entries[:1]) if listed else (),
        fixes=(online, offline),
    )
