"""What the families share whose classes take no part in fusion: their shared experts stay a module of their own.

A release that wires one of them says so in its data alone; it then decides as all others do.
"""

from collections.abc import Iterable

from fse_core.errors import Undecided
from fse_core.families.base import MoeLayer, Part
from fse_core.families.moe_layers import MOST_LAYERS, layer_count
from fse_core.names import GATE_UP
from fse_core.read.getters import Fields
from fse_core.report import PartName


def hidden_layers(text: Fields) -> range:
    """The numbers of the target's decoder layers, which the file must state."""
    return range(layer_count(text, {}))


def next_layers(text: Fields, count: int | None = None) -> range:
    """The numbers that draft layers take, after those of the target. `count` is the config's unless given."""
    first = layer_count(text, {})
    many = text.integer("num_nextn_predict_layers", 0) if count is None else count
    return range(first, first + min(many, MOST_LAYERS))


def layer_types(text: Fields, dense_first: int) -> list[str]:
    """`mlp_layer_types`, or what a config class makes of it where it is absent: so many dense layers, then sparse."""
    layers = hidden_layers(text)
    return text.strings("mlp_layer_types", ["dense" if i < dense_first else "sparse" for i in layers])


def sparse_layers(text: Fields, dense_first: int) -> list[int]:
    """The layers that `layer_types` calls sparse."""
    types = layer_types(text, dense_first)
    return [index for index in hidden_layers(text) if index < len(types) and types[index] == "sparse"]


def moe_layers(
    prefix: str, indices: Iterable[int], shared_name: str = "shared_experts", experts_name: str = "experts"
) -> tuple[MoeLayer, ...]:
    """Layers of the module `prefix`, in which `{i}` is the index. Were they fused, it would be into one slot."""
    return tuple(
        MoeLayer(index=i, prefix=prefix.format(i=i), slots=1, shared_name=shared_name, experts_name=experts_name)
        for i in indices
    )


def separate(model_class: str, layers: tuple[MoeLayer, ...], part: PartName = "target", *, gated: bool = True) -> Part:
    """A part whose class no release has wired yet."""
    return Part(model_class=model_class, layers=layers, part=part, packed=GATE_UP, gated=gated)


def with_draft(target: Part, draft: Part, asked: bool) -> tuple[Part, ...]:
    """`target`, and `draft` where drafts are asked for and it has any layer."""
    return (target, draft) if asked and draft.layers else (target,)


def require_inner(outer: str, text: Fields, inner: str) -> None:
    """Refuse a wrapper whose text config names another language model than `inner`, which it has elsewhere."""
    names = text.strings("architectures", [])
    if names and names[0] != inner:
        raise Undecided(f"{outer} with the language model {names[0]} is not known")
