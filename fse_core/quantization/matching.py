"""How vLLM matches a module's name against the names and patterns of a quantization block.

Packed modules: a fused module (`gate_up_proj`) is looked up by its own name, then by its shards' names
(`gate_proj`, `up_proj`), which must agree.
"""

import time
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property

from fse_core.errors import OutOfTime, ReleaseRaises
from fse_core.names import Packed, Rename
from fse_core.quantization.meant import Meaning
from fse_core.quantization.patterns import LayerIndex, Pattern, glob, regular

_BUDGET_SECONDS = 2.0
"""Of processor time: all ranks of one start, on a busy machine too, must come to the same answer."""


def shard_names(name: str, packed: Packed) -> tuple[str, ...] | None:
    """The names of the shards that `name` packs, None where it is no packed module."""
    leaf = name.rpartition(".")[2]
    shards = packed.get(leaf)
    return None if shards is None else tuple(name.replace(leaf, shard) for shard in shards)


class NameList:
    """The names and patterns of one list, prepared so that many modules can be looked up in it."""

    def __init__(self, entries: Sequence[str]) -> None:
        self.entries = tuple(entries)

    def __len__(self) -> int:
        return len(self.entries)

    def renamed(self, rename: Rename) -> "NameList":
        return NameList([rename(entry) for entry in self.entries])

    @cached_property
    def numbered(self) -> bool:
        """Whether any entry holds a digit: only such can tell one decoder layer from another."""
        return any(char.isdigit() for char in self._joined)

    @cached_property
    def meaning(self) -> Meaning:
        """The list as its author meant it."""
        return Meaning(self.entries)

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(self.entries)

    @cached_property
    def _joined(self) -> str:
        return "\n".join(self.entries)

    @cached_property
    def _regexes(self) -> LayerIndex[Pattern]:
        return _index(regular(entry[3:]) for entry in self.entries if entry.startswith("re:"))

    @cached_property
    def _globs(self) -> LayerIndex[Pattern]:
        return _index(glob(e) for e in self.entries if not e.startswith("re:") and any(c in e for c in "*?["))

    @cached_property
    def _parts(self) -> LayerIndex[str]:
        return LayerIndex((entry, entry) for entry in self.entries)

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.entries)

    @cached_property
    def _deadline(self) -> float:
        return time.process_time() + _BUDGET_SECONDS

    def within_an_entry(self, name: str) -> bool:
        """Whether `name` is a substring of some entry."""
        return name in self._joined

    def part_of(self, name: str) -> bool:
        """Whether some entry is a substring of `name`, but not the name itself."""
        return any(entry in name and entry != name for entry in self._parts.for_name(name))

    def names_within(self, name: str) -> bool:
        """Whether some entry is the module `name` or one of its own."""
        below = f"{name}."
        place = bisect_left(self._sorted, below)
        return name in self.names or (place < len(self) and self._sorted[place].startswith(below))

    def globs_match(self, name: str) -> bool:
        """Whether some entry matches `name` as a shell pattern (the same text counts too)."""
        return name in self.names or _any_match(self._globs, name)

    def matches(self, name: str, *, globs: bool = False) -> bool:
        """Whether some entry equals `name`, matches it from its start as `re:`, or (with globs) as a shell pattern.

        Source: model_executor/layers/quantization/utils/config_utils.py:418 at 0.33.0.
        """
        if not self._regexes.empty and time.process_time() > self._deadline:
            raise OutOfTime(f"its regular expressions take more than {_BUDGET_SECONDS:g} s to match")
        return (
            (name in self.names and not name.startswith("re:"))
            or _any_match(self._regexes, name)
            or (globs and _any_match(self._globs, name))
        )


def _index(patterns: Iterable[Pattern]) -> LayerIndex[Pattern]:
    return LayerIndex((pattern.fixed, pattern) for pattern in patterns)


def _any_match(patterns: LayerIndex[Pattern], name: str) -> bool:
    return not patterns.empty and any(pattern.match(name) for pattern in patterns.for_name(name))


def ignored(name: str, entries: NameList, packed: Packed, *, globs: bool = False) -> bool:
    """Whether a list of names and `re:` patterns takes a module out of quantization; its shards must agree.

    Source: model_executor/layers/quantization/quark/utils.py:29 and compressed_tensors/utils.py:53 at 0.33.0.
    """
    if entries.matches(name, globs=globs):
        return True
    shards = shard_names(name, packed)
    if shards is None:
        return False
    hits = [entries.matches(shard, globs=globs) for shard in shards]
    if any(hits) and not all(hits):
        raise ReleaseRaises(
            "ValueError",
            f"Found different quantization schemes for the shards of {name}. vLLM requires all to use the same scheme.",
        )
    return all(hits)


def skipped(name: str, entries: NameList, packed: Packed) -> bool:
    """Whether an exact list leaves a module unquantized: a routed-experts module if any entry below it is listed.

    Source: model_executor/layers/quantization/utils/quant_utils.py:619 at 0.33.0.
    """
    if not entries.entries:
        return False
    shards = shard_names(name, packed)
    if shards is None:
        return entries.within_an_entry(name) if "experts" in name else name in entries.names
    if name in entries.names:
        return True
    hits = {shard in entries.names for shard in shards}
    if len(hits) > 1:
        raise ReleaseRaises(
            "ValueError",
            f"Detected some but not all shards of {name} are quantized. "
            "All shards of fused layers to have the same precision.",
        )
    return hits.pop()
