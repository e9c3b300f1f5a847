"""What the headers tell of loading, shared out to the rules: each fault belongs to one."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fse_core.grouping import layer_words
from fse_core.quantization.storage import PLAIN, Stored
from fse_core.report import Fix, Layer
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, PartFacts, where
from fse_core.rules.faultwords import message
from fse_core.rules.stored_apart import entries_of, shown, stored_fixes

if TYPE_CHECKING:
    from fse_core.loads.faults import Cause, Fault

_RULES: Final[Mapping["Cause", str]] = {
    "scale_shape": "FSE114",
    "scale_missing": "FSE115",
    "scale_name": "FSE116",
    "width": "FSE117",
    "missing": "FSE130",
    "surplus": "FSE130",
    "absent": "FSE130",
    "unfilled": "FSE150",
    "batched": "FSE102",
}
_LISTS: Final = ("ignored_layers", "modules_to_not_convert", "exclude", "ignore", "exclude_modules")


def hits(facts: Facts, rule: str) -> Iterator[Hit]:
    """One for each fault of the rule, and the layers that have it."""
    if facts.model.headers is None:
        return
    for part in facts.parts:
        mine: dict[Fault, list[tuple[Layer, Fault]]] = {}
        for layer in part.layers:
            loading = facts.loading(part, layer)
            for fault in () if loading is None else loading.faults:
                if rule_of(facts, part, layer, fault) == rule:
                    mine.setdefault(replace(fault, sure=True), []).append((layer, fault))
        for fault, found in mine.items():
            sure = any(own.sure for _, own in found)
            yield _hit(facts, part, replace(fault, sure=sure), tuple(layer for layer, _ in found))


def rule_of(facts: Facts, part: PartFacts, layer: Layer, fault: "Fault") -> str:
    """The rule that a fault belongs to. One of format goes by what the config says of the layer."""
    if fault.cause != "format":
        return _RULES[fault.cause]
    stored = _told_apart(facts, part, layer, fault)
    if stored is None:
        return "FSE102"
    if stored.routed == PLAIN:
        return "FSE108"
    return "FSE103" if facts.release.branches else "FSE101"


def _told_apart(facts: Facts, part: PartFacts, layer: Layer, fault: "Fault") -> Stored | None:
    """What the config says of a fused layer, if it says itself that the shared expert has another format."""
    if fault.cause != "format" or fault.side != "shared" or layer.decision.decision != "fused":
        return None
    stored = facts.stored(part, layer)
    return None if stored is None or stored.routed == stored.shared else stored


def _hit(facts: Facts, part: PartFacts, fault: "Fault", layers: tuple[Layer, ...]) -> Hit:
    stored = _told_apart(facts, part, layers[0], fault)
    entries = () if stored is None else entries_of(facts, part, layers)
    fused = layers[0].decision.decision == "fused"
    return Hit(
        message=f"{where(layers)}{_read(facts, layers)}: {message(fault, fused=fused)}",
        consequence=fault.consequence,
        confidence="certain" if fault.sure else "likely",
        severity="warning" if fault.cause == "absent" else "error",
        layers=layers,
        evidence=(*_tensor(facts, fault, layers), *left(fault), *(shown(stored, entries) if stored else ())),
        fixes=tuple(_fixes(facts, part, fault, layers, stored, entries)),
    )


def left(fault: "Fault") -> tuple[str, ...]:
    """The bytes that stay unwritten, as evidence."""
    return tuple(f"{one.parameter}: {one.bytes} of {one.of} bytes unset" for one in fault.left)


def _read(facts: Facts, layers: tuple[Layer, ...]) -> str:
    """Which of the layers were read, where that is not all."""
    read = tuple(layer for layer in layers if _own(facts, layer) is not False)
    if len(read) == len(layers):
        return ""
    return f" ({layer_words(layers[0].part, [layer.index for layer in read])} read)" if read else " (none of them read)"


def _own(facts: Facts, layer: Layer) -> bool | None:
    shown = facts.shown.get((layer.part, layer.prefix))
    return None if shown is None else shown.own


def _tensor(facts: Facts, fault: "Fault", layers: tuple[Layer, ...]) -> Iterator[str]:
    """The stored tensor that shows it, in the first layer that was read, and its file."""
    first = next((layer for layer in layers if _own(facts, layer)), None)
    if first is None:
        return
    tensors = facts.shown[first.part, first.prefix].tensors
    routed = tensors.routed.get(fault.experts[0]) if fault.experts else tensors.usual
    projection = (tensors.shared if fault.side == "shared" else routed or {}).get(fault.kind)
    tensor = None if projection is None else projection.parts.get(fault.leaf)
    if tensor is not None:
        yield f"{tensor.file}: {tensor.name}: {tensor.dtype} {list(tensor.shape)}"


def _fixes(
    facts: Facts,
    part: PartFacts,
    fault: "Fault",
    layers: tuple[Layer, ...],
    stored: Stored | None,
    entries: tuple[str, ...],
) -> Iterator[Fix]:
    """Run it apart where that would load; what the config's own words call for; else list it."""
    if fault.side == "routed":
        return
    alone = facts.loading(part, layers[0], apart=True)
    if layers[0].decision.decision == "fused" and alone is not None and not alone.faults:
        yield fixes.fusion_off()
    if stored is not None:
        yield from (fix for fix in stored_fixes(facts, part, stored, layers, entries) if fix.kind != "env")
    elif fault.cause == "format" and fault.stored.startswith(("BF16", "F16", "F32")):
        listed = _listed(facts, part, layers)
        if listed is not None:
            yield listed


def _listed(facts: Facts, part: PartFacts, layers: tuple[Layer, ...]) -> Fix | None:
    """The list of what is not quantized, with the shared experts in it."""
    block = facts.model.quantization
    key = None if block is None else next((key for key in _LISTS if isinstance(block.fields.get(key), list)), None)
    if block is None or key is None:
        return None
    return fixes.rewritten_list(facts, part, block.fields.at(key), (), layers)
