"""Module names and how a model class renames those that a quantization block mentions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Rename = Callable[[str], str]
"""Maps one name of the checkpoint to the release's module name."""

Packed = Mapping[str, tuple[str, ...]]
"""Packed modules: the leaf of a fused module to the leaves of its shards, e.g. gate_up_proj to (gate_proj, up_proj)."""

GATE_UP: Packed = {"gate_up_proj": ("gate_proj", "up_proj")}


@dataclass(frozen=True, kw_only=True)
class Renames:
    """The rename rules of one model class, in the order that vLLM applies them; each sees the previous one's result.

    Source: vllm/model_executor/models/utils.py:84 at 0.33.0 (WeightsMapper), without rules that stack or drop.
    """

    regex: tuple[tuple[re.Pattern[str], str], ...] = ()
    substring: Mapping[str, str] = field(default_factory=dict)
    prefix: Mapping[str, str] = field(default_factory=dict)
    suffix: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, name: str) -> str:
        for pattern, new in self.regex:
            name = pattern.sub(new, name)
        for old, new in self.substring.items():
            name = name.replace(old, new, 1)
        for old, new in self.prefix.items():
            if name.startswith(old):
                name = name.replace(old, new, 1)
        for old, new in self.suffix.items():
            if name.endswith(old):
                name = new.join(name.rsplit(old, 1))
        return name


def layer_index(name: str) -> int:
    """The layer number in a module's name: its one component that is a number."""
    return next(int(part) for part in name.split(".") if part.isdigit())
