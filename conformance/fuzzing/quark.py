"""Quark blocks: schemes, excludes, patterns, and what may be missing from them."""

from typing import Any

from conformance.fuzzing import schemes
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.names import Names

Block = dict[str, Any]
BREAKS = ("export", "exclude", "global_quant_config", "layer_quant_config", "layer_type_quant_config")


def block(draw: Draw, names: Names) -> Block:
    """A Quark block that is mostly whole."""
    main = schemes.scheme(draw)
    made: Block = {
        "quant_method": "quark", "export": {"kv_cache_group": [], "pack_method": draw.one(("reorder", "order", None))},
        "exclude": names.entries() if draw.chance(0.5) else ["lm_head"], "global_quant_config": main,
        "layer_quant_config": patterns(draw, names, main) if draw.chance(0.55) else {}, "layer_type_quant_config": {},
    }  # fmt: skip
    if draw.chance(0.06):
        _break(draw, made)
    return made


def patterns(draw: Draw, names: Names, main: schemes.Scheme) -> dict[str, Any]:
    """Patterns with schemes of their own: another one, the same, the same respelled, or none."""
    other = schemes.scheme(draw)
    kinds: tuple[schemes.Scheme, ...] = (other, other, main, schemes.respelled(draw, main), {}, schemes.scheme(draw))
    found = {names.pattern(): draw.one(kinds) for _ in range(draw.one((1, 1, 2, 3)))}
    if draw.chance(0.25):
        site = draw.one(names.sites)
        found |= dict.fromkeys((*names.shared(site, names.shards), *names.routed(site)), other)
    return found


def _break(draw: Draw, made: Block) -> None:
    key = draw.one(BREAKS)
    if draw.chance(0.5):
        made[key] = None
    else:
        made.pop(key)
