"""How each exporter says which modules are left out of quantization, and how to say that the shared experts are not."""

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from fse_core.names import Rename
from fse_core.quantization.meant import Meaning
from fse_core.quantization.patterns import Pattern, glob, regular

_TEXT: Final = "shared_expert"
_HIDDEN: Final = "shared.expert"
_PIECE: Final = re.compile(r"\[!?\]?[^\]]*\]|[*?\[]|[^*?\[]+")
_NUMBER: Final = re.compile(r"(?<=\.)\d+(?=\.)")


@dataclass(frozen=True, kw_only=True)
class Modules:
    """The checkpoint's modules by name: those that are converted, and those that stay in full precision."""

    converted: frozenset[str]
    full: frozenset[str]
    rename: Rename

    def forms(self, module: str) -> tuple[str, ...]:
        """What an entry may call the module: as the checkpoint does, as the release does, or packed."""
        names = (module, self.rename(module))
        parents = tuple(name.rpartition(".")[0] for name in names)
        leaf = module.rpartition(".")[2]
        packed = tuple(f"{p}.gate_up_proj" for p in parents) if leaf in ("gate_proj", "up_proj", "w1", "w3") else ()
        return tuple(dict.fromkeys(names + packed))


class Entry:
    """One entry of a list of modules, with all that a reader may take it for."""

    def __init__(self, text: str, rename: Rename, *, parts: bool) -> None:
        self.texts = tuple(dict.fromkeys((text, rename(text))))
        self.parts = parts

    def hits(self, forms: Iterable[str]) -> bool:
        return any(self._hits(form) for form in forms)

    def _hits(self, name: str) -> bool:
        return (
            name in self.texts
            or any(pattern.match(name) for pattern in self._patterns)
            or bool(self._meaning.entries_for(name))
            or (self.parts and any(text in name for text in self.texts))
        )

    @cached_property
    def _meaning(self) -> Meaning:
        return Meaning(self.texts)

    @cached_property
    def _patterns(self) -> tuple[Pattern, ...]:
        found = []
        for text in self.texts:
            if text.startswith("re:"):
                found.append(regular(text[3:]))
            elif any(char in text for char in "*?["):
                found.append(glob(text))
        return tuple(found)


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One vLLM class's way to list modules.

    keys: where its block, or the object `quantization` in it, may hold the list.
    parts: whether an entry takes out every module whose name contains it.
    unsaid: a text that no entry may hold. spell: how to list modules that stay left out.
    """

    keys: tuple[str, ...]
    parts: bool = False
    unsaid: str | None = None
    spell: Callable[[Sequence[str], Modules], Sequence[str]] = lambda names, _: names

    def changed(self, entries: Sequence[str], modules: Modules) -> list[Sequence[str]]:
        """For each entry the entries that take its place: itself where it does not speak of what is converted.

        What the others took out besides the converted modules is listed at the first one's place, unless an entry that
        stays has it, too.
        """
        read = [Entry(text, modules.rename, parts=self.parts) for text in entries]
        targets = [modules.forms(module) for module in sorted(modules.converted)]
        gone = [any(entry.hits(forms) for forms in targets) for entry in read]
        moved = [
            not hit and self.unsaid is not None and self.unsaid in text for hit, text in zip(gone, entries, strict=True)
        ]
        stays = [not (hit or move) for hit, move in zip(gone, moved, strict=True)]
        listed = {text for entry, stay in zip(read, stays, strict=True) if stay for text in entry.texts}
        left = [text for text, move in zip(entries, moved, strict=True) if move]
        dropped = [entry for entry, hit in zip(read, gone, strict=True) if hit]
        for name in sorted(modules.full - listed - set(left)) if dropped else ():
            forms = modules.forms(name)
            if any(entry.hits(forms) for entry in dropped):
                left.append(name)
        result: list[Sequence[str]] = [[text] if stay else [] for text, stay in zip(entries, stays, strict=True)]
        if left:
            result[stays.index(False)] = self.spell(left, modules)
        return result


def _quark(names: Sequence[str], modules: Modules) -> Sequence[str]:
    """Without the text that makes vLLM 0.29 refuse: its gate looks for `shared_expert` in every entry, the router of a
    gated shared expert included (config_utils.py:145 at 0.29.0). A pattern with a dot in the middle has the same effect
    in every release.
    """
    spelled: list[str] = []
    templates: dict[str, list[str]] = {}
    for name in names:
        if _TEXT not in name:
            spelled.append(name)
        elif name.startswith("re:"):
            spelled.append(name.replace(_TEXT, _HIDDEN))
        elif any(char in name for char in "*?["):
            spelled.append(f"re:{_PIECE.sub(_regular, name)}$".replace(_TEXT, _HIDDEN))
        else:
            templates.setdefault(_template(name), []).append(name)
    return spelled + [_pattern(template, names_, modules) for template, names_ in templates.items()]


def _regular(piece: re.Match[str]) -> str:
    """A piece of a shell pattern as a regular expression that every Python has: not fnmatch's for the whole, which may
    hold atomic groups.
    """
    text = piece.group()
    if text.startswith("[") and len(text) > 1:
        return fnmatch.translate(text).removeprefix("(?s:")[: -len(r")\Z")].replace(_TEXT, r"shared\_expert")
    return {"*": ".*", "?": "."}.get(text) or re.escape(text)


def _template(name: str) -> str:
    return _NUMBER.sub("{}", name, count=1)


def _pattern(template: str, names: list[str], modules: Modules) -> str:
    """One pattern for modules that differ in their layer's number alone, by the end of their names.

    What stands before the layers is left open: a release renames that in a name, and not in a pattern.
    """
    root, _, tail = template.partition("{}.")
    if not tail:
        return "re:" + re.escape(template).replace(_TEXT, _HIDDEN) + "$"
    end = re.escape(tail).replace(_TEXT, _HIDDEN) + "$"
    alike = [name for name in modules.full | modules.converted if name.endswith(f".{tail}")]
    if set(alike) <= set(names):
        return rf"re:.*\.{end}"
    number = "|".join(sorted(match.group() for name in names if (match := _NUMBER.search(name))))
    draft = r"mtp\." if root.startswith("mtp.") else r"(?!mtp\.).*"
    return rf"re:{draft}layers\.({number})\.{end}"


DIALECTS: Final[Mapping[str, Dialect]] = {
    "QuarkConfig": Dialect(keys=("exclude",), unsaid=_TEXT, spell=_quark),
    "Fp8Config": Dialect(keys=("ignored_layers", "modules_to_not_convert")),
    "ModelOptMxFp8Config": Dialect(keys=("ignore", "exclude_modules", "ignored_layers"), parts=True),
}
"""By the vLLM class that reads the block."""
