"""The numbers of a model's expert layers, where the config states them."""

from dataclasses import dataclass
from typing import Final

from fse_core.errors import InputError
from fse_core.read.getters import Fields
from fse_core.target import Target

_EXPERTS: Final = ("n_routed_experts", "num_experts", "num_local_experts")
_OWN_WIDTH: Final = "shared_expert_intermediate_size"


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """hidden, width: a routed expert's matrices are as large. experts: how many of them. shared: how wide the shared
    ones are together, by the config. tp: over how many ranks an expert is cut; linear_tp: and other modules.
    """

    hidden: int
    width: int
    experts: int
    shared: int
    tp: int = 1
    linear_tp: int = 1

    @property
    def partition(self) -> int:
        """How wide a rank's share of a slot is."""
        return self.width // self.tp


def sizes(text: Fields, count: int, target: Target) -> Sizes | None:
    """The numbers of a layer with so many shared experts, None where the config does not state them all."""
    try:
        hidden = text.optional_integer("hidden_size")
        width = text.optional_integer(_width_key(text))
        experts = next((text.optional_integer(key) for key in _EXPERTS if key in text), None)
        own = text.optional_integer(_OWN_WIDTH)
    except InputError:
        return None
    if not (hidden and width and experts):
        return None
    ranks = target.tp * target.dp * target.pcp
    tp = 1 if target.ep else ranks
    if width % tp:
        return None
    shared = width * count if own is None else own
    return Sizes(hidden=hidden, width=width, experts=experts, shared=shared, tp=tp, linear_tp=target.tp)


def _width_key(text: Fields) -> str:
    """MiniMax-M3 calls a routed expert's width as others call a dense layer's."""
    plain = "num_local_experts" in text and "moe_intermediate_size" not in text
    return "intermediate_size" if plain else "moe_intermediate_size"
