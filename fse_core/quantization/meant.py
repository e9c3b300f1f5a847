"""What the author of an exclude list meant, which need not be what the release makes of it.

Exporters name a module by its full name, by the module that holds it, by the last part of its name alone, by a shell
pattern or by a regular expression. No single reader takes them all.
"""

from collections.abc import Iterable

from fse_core.errors import ReleaseRaises, Undecided
from fse_core.quantization.patterns import LayerIndex, Pattern, glob, regular


class Meaning:
    """What a person reads in a list about shared experts: no family calls them by a name without `share` in it."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._index = LayerIndex(_item(entry) for entry in entries if "share" in entry)

    @property
    def empty(self) -> bool:
        """Whether no entry speaks of shared experts."""
        return self._index.empty

    def entries_for(self, name: str) -> tuple[str, ...]:
        """The entries that name the module, or one that holds it."""
        return tuple(entry for entry, pattern in self._index.for_name(name) if _names(entry, pattern, name))


def is_glob(entry: str) -> bool:
    """Whether the entry is a shell pattern."""
    return not entry.startswith("re:") and any(char in entry for char in "*?[")


def _item(entry: str) -> tuple[str, tuple[str, Pattern | None]]:
    if not entry.startswith("re:"):
        pattern = glob(entry) if is_glob(entry) else None
        return f"{entry if pattern is None else pattern.fixed}.", (entry, pattern)
    try:
        pattern = regular(entry[3:])
    except (ReleaseRaises, Undecided):  # no pattern at all, or one that cannot be told
        return entry, (entry, None)
    return pattern.fixed, (entry, pattern)


def _names(entry: str, pattern: Pattern | None, name: str) -> bool:
    if pattern is not None:
        return pattern.match(name)
    # The entry may leave out what stands before the name in the release, or have a wrapper's name before it.
    return f".{entry}." in f".{name}." or f".{entry}".endswith(f".{name}")
