"""Sizes on one GPU: how wide the experts are, and which tensor-parallel sizes divide them."""

from typing import Final

from fse_core.errors import InputError
from fse_core.report import Fix, Layer
from fse_core.rules.base import Facts, PartFacts

ROUTED: Final = "moe_intermediate_size"
QWEN_SHARED: Final = "shared_expert_intermediate_size"
_SIZES: Final = (*range(1, 17), 32, 64)
_HEADS: Final = "num_attention_heads"


def routed_width(facts: Facts) -> int | None:
    """How wide a routed expert is, where the config says so under the usual name."""
    return _integer(facts, ROUTED)


def shared_width(facts: Facts, part: PartFacts, layer: Layer) -> int | None:
    """How wide the layer's shared experts are together, as a module of their own."""
    if layer.shared.endswith(".shared_expert"):
        return _integer(facts, QWEN_SHARED)
    routed = routed_width(facts)
    return None if routed is None else routed * part.slots.get(layer.prefix, 0)


def shared_key(layer: Layer) -> str:
    """Where the width of the shared expert comes from."""
    return QWEN_SHARED if layer.shared.endswith(".shared_expert") else ROUTED


def _integer(facts: Facts, key: str) -> int | None:
    try:
        return facts.model.text.optional_integer(key)
    except InputError:
        return None


def divides(width: int, tp: int, unit: int) -> bool:
    """Whether each GPU's share is a whole number of units."""
    return width % tp == 0 and (width // tp) % unit == 0


def legal(facts: Facts, unit: int, *widths: int) -> tuple[int, ...]:
    """The tensor-parallel sizes up to 16, and the usual ones above, that divide all of them and the attention heads."""
    heads = _integer(facts, _HEADS) or 0
    return tuple(tp for tp in _SIZES if heads % tp == 0 and all(divides(width, tp, unit) for width in widths))


def words(sizes: tuple[int, ...]) -> str:
    """The sizes in a sentence."""
    return f"tp {', '.join(map(str, sizes))}" if sizes else "no tensor-parallel size"


def _liked(size: int) -> tuple[bool, int]:
    return size.bit_count() == 1, size


def fewer_gpus(facts: Facts, sizes: tuple[int, ...]) -> Fix | None:
    """The largest of the sizes that is less than what was asked for, a power of two if there is one, as nodes are."""
    best = max((size for size in sizes if size < facts.target.tp), key=_liked, default=None)
    if best is None:
        return None
    return Fix(kind="flag", safety="lossless", summary=f"serve it at tp {best}", patch={"--tp": best})


def split_experts() -> Fix:
    """Expert parallelism."""
    summary = "split the routed experts over the GPUs as a whole (--enable-expert-parallel)"
    return Fix(kind="flag", safety="lossless", summary=summary, patch={"--ep": True})
