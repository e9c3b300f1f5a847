"""What a shell knows of variables while it goes through a text: which are set, exported, and removed."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fse_core.errors import InputError

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=(.*)", re.DOTALL)
_MOST = 1024
_DEEPEST = 64
DECLARES = ("export", "declare", "typeset", "readonly", "local")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Variables as a command finds them. `removed` are those that even an outer environment no longer gives it."""

    exported: Mapping[str, str] = field(default_factory=dict)
    only_set: Mapping[str, str] = field(default_factory=dict)
    removed: frozenset[str] = frozenset()


def assignment(word: str) -> tuple[str, str] | None:
    """The name and value of `NAME=value`."""
    match = _ASSIGNMENT.fullmatch(word)
    return None if match is None else (match[1], match[3])


class Variables:
    """Takes commands in, one after the other. InputError where a text sets more than can be kept."""

    def __init__(self, exported: Mapping[str, str], inherited: Collection[str]) -> None:
        self.exported = dict(exported)
        self.inherited = inherited
        self.only_set: dict[str, str] = {}
        self.removed: frozenset[str] = frozenset()
        self.arrays: dict[str, list[str]] = {}
        self.all_exported = False
        self._seen: Seen | None = None
        self._outer: list[tuple[Seen, bool]] = []

    def value(self, name: str) -> str | None:
        """What `$NAME` is, None where that is not known. An array's is its first element."""
        if name in self.arrays:
            return next(iter(self.arrays[name]), "")
        known = self.only_set.get(name, self.exported.get(name))
        return "" if known is None and name in self.removed else known

    def seen(self) -> Seen:
        """What a command finds now."""
        if self._seen is None:
            self._seen = Seen(exported=dict(self.exported), only_set=dict(self.only_set), removed=self.removed)
        return self._seen

    def enter(self) -> None:
        """A subshell begins: what it sets ends with it."""
        if len(self._outer) >= _DEEPEST:
            raise InputError("the command", f"has more than {_DEEPEST} parentheses open")
        self._outer.append((self.seen(), self.all_exported))

    def leave(self) -> None:
        """The subshell ends."""
        if self._outer:
            seen, self.all_exported = self._outer.pop()
            self.exported, self.only_set, self.removed = dict(seen.exported), dict(seen.only_set), seen.removed
            self._seen = seen

    def array(self, name: str, items: list[str], *, more: bool) -> None:
        """`NAME=(items)`, or `NAME+=(items)`."""
        self.arrays[name] = [*(self.arrays.get(name, ()) if more else ()), *items]
        self._changed()

    def take(self, words: list[str]) -> bool:
        """Whether the command is one that only changes variables; they are then changed."""
        if words[0] in DECLARES:
            self._declare(words)
        elif words[0] == "unset":
            if "-f" not in words:
                self._remove(words[1:])
        elif words[0] == "set":
            self._switch(words)
        elif all(_ASSIGNMENT.fullmatch(word) for word in words):
            for word in words:
                self._assign(word, export=self.all_exported)
        else:
            return False
        self._changed()
        return True

    def _changed(self) -> None:
        self._seen = None
        if len(self.exported) + len(self.only_set) + len(self.arrays) + len(self.removed) > _MOST:
            raise InputError("the command", f"sets more than {_MOST} variables")

    def _assign(self, word: str, *, export: bool) -> None:
        match = _ASSIGNMENT.fullmatch(word)
        if match is None:
            return
        name, more, value = match[1], match[2], match[3]
        self.arrays.pop(name, None)
        value = (self.value(name) or "") + value if more else value
        was = name in self.exported or (name in self.inherited and name not in self.removed)
        self.only_set.pop(name, None)
        owner = self.exported if was or export else self.only_set
        owner[name] = value
        if owner is self.exported:
            self.removed -= {name}

    def _declare(self, words: list[str]) -> None:
        """`declare` exports with -x, and `export` unless with -n, which takes it back."""
        flags = {letter for word in words[1:] if word.startswith(("-", "+")) for letter in word[1:]}
        back = words[0] == "export" and "n" in flags
        export = self.all_exported or (words[0] == "export" and not back) or (words[0] != "export" and "x" in flags)
        for word in words[1:]:
            if assignment(word) is not None:
                self._assign(word, export=export)
            elif export and word in self.only_set:
                self.exported[word] = self.only_set.pop(word)
                self.removed -= {word}
            name = word.partition("=")[0].removesuffix("+")
            if back and not word.startswith("-"):
                value = self.exported.pop(name, None)
                if value is not None:
                    self.only_set[name] = value
                self.removed |= {name}

    def _remove(self, words: list[str]) -> None:
        names = {word for word in words if not word.startswith("-")}
        for name in names:
            for known in (self.exported, self.only_set):
                known.pop(name, None)
            self.arrays.pop(name, None)
        self.removed |= names

    def _switch(self, words: list[str]) -> None:
        """`set -a`, `set -o allexport` and their opposites."""
        for at, word in enumerate(words[1:], 1):
            if word in ("--", "-"):
                return
            long = word[1:].endswith("o") and words[at + 1 : at + 2] == ["allexport"]
            if word[:1] in ("-", "+") and ("a" in word[1:] or long):
                self.all_exported = word[0] == "-"
