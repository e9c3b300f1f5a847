"""The gate has no branch for how the checkpoint is quantized, and refuses it whatever its experts look like.

Nothing in the config changes that, not even where routed and shared experts are stored alike. The gate knows FP8 in
blocks and Quark from the first release that has one on, and others later; a gap between releases is told. Releases
without a gate fuse such a checkpoint without asking, which is no remedy: what then goes wrong is theirs to find.
"""

from collections.abc import Iterator

from fse_core import releases
from fse_core.report import Fix, Layer
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where
from fse_core.rules.reasons import refused_by

RULE = Rule(id="FSE119", name="method-not-in-gate", severity="info")

_REASONS = ("class_not_implemented", "fp8_not_block", "fp8_store_dtype")


def check(facts: Facts) -> Iterator[Hit]:
    """The target's layers that are refused for their class."""
    part = facts.parts[0] if facts.parts else None
    quantization = part.gate.quantization if part else None
    if part is None or quantization is None or len(part.fused()) == len(part.layers):
        return
    values = {"class_name": quantization.class_name, "store_dtype": getattr(quantization, "store_dtype", None)}
    reasons = [refused_by(facts, part, layer, *_REASONS, **values) for layer in part.layers]
    refused = [(layer, reason) for layer, reason in zip(part.layers, reasons, strict=True) if reason]
    if refused:
        yield _hit(facts, part, quantization.class_name, refused[0][1] or "", tuple(layer for layer, _ in refused))


def _hit(facts: Facts, part: PartFacts, name: str, reason: str, layers: tuple[Layer, ...]) -> Hit:
    stored = facts.stored(part, layers[0])
    alike = stored is not None and stored.routed == stored.shared
    how = f", although routed and shared experts are both stored as {stored.shared.name}" if stored and alike else ""
    what = {"class_not_implemented": f"no branch for {name}"}.get(reason, f"only FP8 in blocks for {name}")
    block = facts.model.quantization
    return Hit(
        message=f"{where(layers)}: not fused, for the gate of vLLM {facts.release.version} has {what}{how}. Nothing in "
        "the config changes that.",
        consequence="not_fused",
        layers=layers,
        evidence=(block.fields.path.rstrip(":"),) if block else (),
        fixes=tuple(_fixes(facts, name, reason)),
    )


def _fixes(facts: Facts, name: str, reason: str) -> Iterator[Fix]:
    newer = releases.known()[releases.known().index(facts.release.version) + 1 :]
    first = next((version for version in newer if name in releases.load(version).branches), None)
    if reason == "class_not_implemented" and first is not None:
        yield fixes.later_release(facts, first, f"has a branch for {name}")
