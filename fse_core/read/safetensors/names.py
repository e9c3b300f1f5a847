"""What the name of a tensor in a checkpoint says: which layer, routed or shared expert, which projection.

Checkpoints and vLLM's modules name the way to a layer differently (`model.language_model.layers.3` and
`language_model.model.layers.3`, `mtp.0` and `model.layers.61`), and one release's renames are for modules, not for all
tensors. What holds for both is the layer's number, whether it is in a draft, and the words for the experts below it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["gate", "up", "gate_up", "down"]

_HEAD: Final = re.compile(r"((?:[^.]+\.)*?(\d{1,6}))\.(.+)", re.DOTALL)
_SHARED: Final = re.compile(r"(?:^|\.)(?:shared_experts?|share_expert|shared_mlp)\.(?:(\d{1,6})\.)?(.+)", re.DOTALL)
_ROUTED: Final = re.compile(r"(?:^|\.)(?:experts\.(?:(\d{1,6})\.)?|moe\.(?=\w+_proj\b))(.+)", re.DOTALL)
_PROJECTION: Final = re.compile(
    r"(gate_up_proj|gate_and_up_proj|w13|gate_proj|w1|up_proj|w3|down_proj|w2)(?:[._](.*))?", re.DOTALL
)
_KINDS: Final[dict[str, Kind]] = {
    "gate_up_proj": "gate_up", "gate_and_up_proj": "gate_up", "w13": "gate_up",
    "gate_proj": "gate", "w1": "gate", "up_proj": "up", "w3": "up", "down_proj": "down", "w2": "down",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Role:
    """A tensor of an expert. `expert` is the routed expert's number, None where one tensor holds all of them.

    `leaf` is what stands behind the projection's name: `weight`, `weight_scale_inv`; empty where nothing does.
    """

    head: str
    shared: bool
    expert: int | None
    projection: str
    leaf: str

    @property
    def kind(self) -> Kind:
        return _KINDS[self.projection]


@dataclass(frozen=True, kw_only=True)
class LayerName:
    """How to recognize a layer in a checkpoint.

    `number` is the one that its name ends in where it stands among the target's layers, None where it does not stand
    there; `drafts` are those that it may have in a room for drafts of its own (`mtp.`), the likelier first.
    """

    number: int | None
    drafts: tuple[int, ...] = ()


def role_of(name: str) -> Role | None:
    """What the tensor is, None where it is of no expert in a numbered layer."""
    found = _HEAD.fullmatch(name)
    if found is None:
        return None
    shared = _SHARED.search(found[3])
    routed = None if shared else _ROUTED.search(found[3])
    match = shared or routed
    projection = match and _PROJECTION.fullmatch(match[2])
    if not match or not projection:
        return None
    expert = int(match[1]) if routed and match[1] else None
    return Role(
        head=found[1], shared=shared is not None, expert=expert, projection=projection[1], leaf=projection[2] or ""
    )


def head_of(layer: LayerName, heads: Iterable[str]) -> str | None:
    """Which of the heads (that hold experts) is the layer's; None where none is, or more than one could be."""
    drafts: list[str] = []
    others: list[str] = []
    for head in heads:
        (drafts if _of_draft(head) else others).append(head)
    for number in layer.drafts:
        found = [head for head in drafts if _number(head) == number]
        if found:
            return found[0] if len(found) == 1 else None
    found = [] if layer.number is None else [head for head in others if _number(head) == layer.number]
    return found[0] if len(found) == 1 else None


def _number(head: str) -> int:
    return int(head.rpartition(".")[2])


def _of_draft(head: str) -> bool:
    return any(part.startswith(("mtp", "nextn", "eagle")) for part in head.split("."))
