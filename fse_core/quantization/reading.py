"""What a block's list of left-out modules says about one layer: to its author, and to the release."""

from collections.abc import Callable
from dataclasses import dataclass

from fse_core.errors import ReleaseRaises
from fse_core.names import Packed
from fse_core.quantization.base import Question
from fse_core.quantization.matching import NameList, shard_names
from fse_core.quantization.meant import is_glob
from fse_core.quantization.storage import PLAIN, Storage, Stored
from fse_core.read.getters import Fields


def readable(fields: Fields, key: str) -> NameList:
    """The names in a list that the gate does not look at, so that nothing is refused for it."""
    listed = fields.get(key)
    return NameList([entry for entry in listed if isinstance(entry, str)] if isinstance(listed, list) else [])


def leaves(module: str, packed: Packed) -> tuple[str, ...]:
    """The names of an expert's weights below its module, by the packed modules in force."""
    pair = shard_names(f"{module}.gate_up_proj", packed) or (f"{module}.gate_proj", f"{module}.up_proj")
    return (*pair, f"{module}.down_proj")


def meant_apart(entries: NameList, question: Question) -> tuple[str, ...]:
    """The entries that mean the layer's shared expert and not its routed ones."""
    meaning = entries.meaning
    if meaning.empty:
        return ()
    found = [e for leaf in leaves(question.shared, question.packed) for e in meaning.entries_for(leaf)]
    if not found:
        return ()
    routed = leaves(f"{question.experts}.0", question.packed)
    both = {entry for leaf in routed for entry in meaning.entries_for(leaf)}
    return tuple(dict.fromkeys(entry for entry in found if entry not in both))


def place(question: Question, keys: tuple[str, ...]) -> str:
    """The path of the first of `keys` that the block has, of the block itself where it has none."""
    block = question.model.quantization
    if block is None:
        return ""
    nested = isinstance(block.fields.get("quantization"), dict)
    fields = block.fields.object("quantization") if nested else block.fields
    return next((fields.at(key) for key in keys if fields.get(key)), fields.path)


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A list of modules that are not quantized.

    keys: where a block may hold it. skips: whether the release leaves the module of this name unquantized.
    by_parent: whether those who write such lists mean all that a module holds when they name it.
    """

    entries: NameList
    keys: tuple[str, ...]
    skips: Callable[[str], bool]
    by_parent: bool = True

    def stored(self, question: Question, storage: Storage) -> Stored | None:
        """Both sides of a layer where all that is not listed is stored as `storage`."""
        if not self.entries.entries:
            return Stored(routed=storage, shared=storage)
        try:
            routed = self.skips(question.experts)
            heard = any(self.skips(name) for name in question.projections)
        except ReleaseRaises:  # told where the module is built
            return None
        meant = meant_apart(self.entries, question)
        if routed == (heard or bool(meant)):
            return Stored(routed=PLAIN, shared=PLAIN) if routed else Stored(routed=storage, shared=storage)
        heard = heard or not meant
        return Stored(
            routed=PLAIN if routed else storage,
            shared=storage if routed else PLAIN,
            place=place(question, self.keys),
            entries=meant,
            heard=heard,
            sure=heard or self.by_parent or any(map(is_glob, meant)),
        )
