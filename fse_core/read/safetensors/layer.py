"""The tensors of one layer's routed and shared experts, projection by projection."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from fse_core.read.safetensors.facts import Headers, Tensor
from fse_core.read.safetensors.names import Kind, LayerName, Role, head_of

_WEIGHTS: Final = ("weight", "weight_packed", "qweight", "blocks", "")
"""What the leaf of a projection's numbers is called, by who wrote them."""


@dataclass(frozen=True, kw_only=True)
class Projection:
    """One projection: `name` in the checkpoint's word (`gate_proj`, `w1`), `parts` its tensors by leaf."""

    name: str
    parts: Mapping[str, Tensor]

    @property
    def weight(self) -> Tensor | None:
        """The tensor of its numbers, packed or not."""
        return next((self.parts[leaf] for leaf in _WEIGHTS if leaf in self.parts), None)

    @property
    def scales(self) -> Mapping[str, Tensor]:
        """The tensors of scales by leaf, those of activations among them."""
        return {leaf: tensor for leaf, tensor in self.parts.items() if "scale" in leaf}

    @property
    def signature(self) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
        """Leaf, number type and shape of each part: equal where two projections are stored alike."""
        return tuple(sorted((leaf, tensor.dtype, tensor.shape) for leaf, tensor in self.parts.items()))


Expert = Mapping[Kind, Projection]


@dataclass(frozen=True, kw_only=True)
class LayerTensors:
    """A layer's experts as they are stored. `routed` is by the expert's number, None where tensors hold all of them.

    read: which of the routed experts were read, None where all were; the others are named by the index, and taken to be
        stored like those. shared_read: the same of the shared one. whole: it is known which routed experts there are.
    """

    head: str
    routed: Mapping[int | None, Expert]
    shared: Expert
    read: frozenset[int | None] | None = None
    shared_read: bool = True
    whole: bool = True

    @cached_property
    def alike(self) -> tuple[tuple[int | None, ...], ...]:
        """The routed experts in groups that are stored alike, the largest first."""
        groups: dict[object, list[int | None]] = {}
        for number, expert in self.routed.items():
            key = tuple(sorted((kind, projection.signature) for kind, projection in expert.items()))
            groups.setdefault(key, []).append(number)
        return tuple(tuple(group) for group in sorted(groups.values(), key=len, reverse=True))

    def seen(self, *numbers: int | None) -> bool:
        """Whether any of these routed experts was read."""
        return self.read is None or not self.read.isdisjoint(numbers)

    @property
    def usual(self) -> Expert | None:
        """A routed expert as most are stored."""
        return self.routed[self.alike[0][0]] if self.alike else None


def is_whole(expert: Expert) -> bool:
    """Whether no projection lacks what another has, as one does in a file that ends in the middle of an expert."""
    leaves = {frozenset(projection.parts) for projection in expert.values()}
    return "down" in expert and ("up" in expert or "gate_up" in expert) and len(leaves) == 1


def layer_tensors(headers: Headers, layer: LayerName) -> LayerTensors | None:
    """What the headers say of the layer; None where they hold nothing of it, or its name cannot be told for sure."""
    head = head_of(layer, headers.by_head)
    if head is None:
        return None
    if head not in headers.kept:
        headers.kept[head] = _layer_tensors(head, headers.by_head[head])
    made: LayerTensors = headers.kept[head]
    return made


def _layer_tensors(head: str, members: tuple[tuple[Role, Tensor], ...]) -> LayerTensors:
    routed: dict[int | None, list[tuple[Role, Tensor]]] = {}
    for role, tensor in members:
        if not role.shared:
            routed.setdefault(role.expert, []).append((role, tensor))
    return LayerTensors(
        head=head,
        routed={number: expert_of(found) for number, found in sorted(routed.items(), key=lambda item: item[0] or 0)},
        shared=expert_of(member for member in members if member[0].shared),
    )


def expert_of(members: Iterable[tuple[Role, Tensor]]) -> Expert:
    """Its tensors by projection."""
    parts: dict[Kind, tuple[str, dict[str, Tensor]]] = {}
    for role, tensor in members:
        parts.setdefault(role.kind, (role.projection, {}))[1][role.leaf] = tensor
    return {kind: Projection(name=name, parts=tensors) for kind, (name, tensors) in parts.items()}
