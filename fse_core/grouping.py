"""Layers that share one answer, together: a model has dozens, and a reader wants to see each answer once."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fse_core.report import Layer, PartName

_STEP_LEAST = 4
"""From how many evenly spaced layers on they are written as a range with a step."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Layers of one part with the same answer. `alike` tells that their reasons differ in the layer's number alone."""

    layers: tuple[Layer, ...]
    alike: bool

    @property
    def first(self) -> Layer:
        return self.layers[0]

    @property
    def indices(self) -> list[int]:
        return [layer.index for layer in self.layers]


def groups(layers: Iterable[Layer]) -> list[Group]:
    """The layers by equal (part, decision, reason or error), each group where its first layer stands."""
    members: dict[tuple[object, ...], list[Layer]] = {}
    for layer in layers:
        members.setdefault(answer(layer), []).append(layer)
    return [Group(layers=tuple(group), alike=len({words(layer) for layer in group}) > 1) for group in members.values()]


def words(layer: Layer) -> str:
    """What the release says of the layer, its error or its reason; empty where it says nothing."""
    decision = layer.decision
    return f"{decision.error.type}: {decision.error.message}" if decision.error else decision.reason or ""


def words_of_any(layer: Layer) -> str:
    """The same with `#` for the layer's number.

    A reason names its own layer, so taken literally no two layers would have the same one. The number stands between
    names (`layers.24.mlp`), not between numbers (`0.24.0`).
    """
    said = words(layer)
    return re.sub(rf"(?<=[a-z_]\.){layer.index}(?=\.[a-z_])", "#", said) if said else ""


def answer(layer: Layer) -> tuple[object, ...]:
    """What two layers with the same answer have in common."""
    how = (layer.slots, layer.mode) if layer.decision.decision == "fused" else ()
    return (layer.part, layer.decision.decision, words_of_any(layer), *how)


def layer_words(part: PartName, indices: Sequence[int]) -> str:
    """`layer 3`, `layers 3-60 (58)`, `draft layer 61`."""
    name = "draft layer" if part == "draft" else "layer"
    return f"{name} {indices[0]}" if len(indices) == 1 else f"{name}s {numbers(indices)} ({len(indices)})"


def numbers(indices: Sequence[int]) -> str:
    """`3-60`, `1, 5-7` or `1-47 by 2`, in ascending order."""
    pieces: list[str] = []
    rest = sorted(indices)
    while rest:
        taken = _run(rest)
        pieces.append(_piece(rest[:taken]))
        rest = rest[taken:]
    return ", ".join(pieces)


def _run(values: Sequence[int]) -> int:
    """How many of the first values are evenly spaced, if so many that a range says it better; else 1."""
    if len(values) == 1:
        return 1
    step = values[1] - values[0]
    count = 2
    while count < len(values) and values[count] - values[count - 1] == step:
        count += 1
    return count if step == 1 or count >= _STEP_LEAST else 1


def _piece(values: Sequence[int]) -> str:
    if len(values) == 1:
        return str(values[0])
    step = values[1] - values[0]
    return f"{values[0]}-{values[-1]}" + (f" by {step}" if step > 1 else "")


def among(words: str, index: int) -> bool:
    """Whether `index` is one of what `numbers` wrote as `words`."""
    return any(index in piece for piece in ranges(words))


def ranges(words: str) -> list[range]:
    """What `numbers` wrote as `words`."""
    return [_range(piece) for piece in words.split(", ") if piece]


def _range(piece: str) -> range:
    ends, _, step = piece.partition(" by ")
    first, _, last = ends.partition("-")
    return range(int(first), int(last or first) + 1, int(step or 1))
