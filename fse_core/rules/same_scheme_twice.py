"""The shared expert's scheme is the routed experts' in other words, and the gate takes it for another one.

Quark's branch of the gate compares two schemes as they are written: a key that one has as null and the other does not
have makes them differ. Written alike they fuse.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from fse_core.quantization.quark import Quark
from fse_core.quantization.reading import leaves
from fse_core.report import Fix, Layer
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, by, where
from fse_core.rules.reasons import refused_by

RULE = Rule(id="FSE152", name="same-scheme-twice", severity="warning")

_SCHEMES = ("global_quant_config", "layer_quant_config")


def check(facts: Facts) -> Iterator[Hit]:
    """The layers that are refused for a difference that is none."""
    for part in facts.parts:
        for keys, layers in by(part.layers, partial(_keys, facts, part)).items():
            if keys:
                yield _hit(facts, layers, keys)


def _keys(facts: Facts, part: PartFacts, layer: Layer) -> tuple[str, ...]:
    """Where the differing keys are, for a layer that is refused while its schemes mean the same."""
    quantization = part.gate.quantization
    if not isinstance(quantization, Quark) or refused_by(facts, part, layer, "quark_differs") is None:
        return ()
    names = (layer.experts, *leaves(layer.shared, part.packed))
    routed, *shared = (quantization.scheme(name) or {} for name in names)
    if any(_plain(one) != _plain(routed) for one in shared):
        return ()
    return tuple(dict.fromkeys(key for one in shared if one != routed for key in _differing(routed, one)))


def _plain(value: Any) -> Any:
    """The same without what is null."""
    if not isinstance(value, Mapping):
        return value
    return {key: _plain(one) for key, one in value.items() if one is not None}


def _differing(one: Mapping[str, Any], other: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key in (*one, *(key for key in other if key not in one)):
        a, b = one.get(key), other.get(key)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            yield from _differing(a, b, f"{above}{key}.")
        elif a != b or (key in one) != (key in other):
            yield f"{above}{key}"


def _hit(facts: Facts, layers: tuple[Layer, ...], keys: tuple[str, ...]) -> Hit:
    block = facts.model.quantization
    return Hit(
        message=f"{where(layers)}: routed and shared experts have the same scheme, written in two ways: "
        f"{', '.join(keys)} differ only in being null or absent. vLLM {facts.release.version} takes "
        "them for different.",
        consequence="not_fused",
        layers=layers,
        evidence=() if block is None else tuple(block.fields.at(key) for key in _SCHEMES if block.fields.get(key)),
        fixes=tuple(_fixes(facts)),
    )


def _fixes(facts: Facts) -> Iterator[Fix]:
    """Every scheme that means what the global one does is given all the keys that any of them has."""
    block = facts.model.quantization
    scheme = block.fields.get("global_quant_config") if block is not None else None
    if block is None or not isinstance(scheme, Mapping):
        return
    exceptions = block.fields.object("layer_quant_config", {}).raw
    alike = [key for key, one in exceptions.items() if _plain(one) == _plain(scheme)]
    whole: Mapping[str, Any] = dict(scheme)
    for key in alike:
        whole = _union(whole, exceptions[key])
    patch = fixes.block_patch(facts, {"global_quant_config": whole, "layer_quant_config": dict.fromkeys(alike, whole)})
    if alike and patch is not None:
        summary = "write the scheme in one way, with the same keys and values, wherever it stands"
        yield Fix(kind="config_patch", safety="lossless", summary=summary, patch=patch)


def _union(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(one)
    for key, value in other.items():
        mine = both.get(key)
        if isinstance(mine, Mapping) and isinstance(value, Mapping):
            both[key] = _union(mine, value)
        elif mine is None:
            both[key] = value
    return both
