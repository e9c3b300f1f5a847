"""The two sides of a comparison, as its address names them: the page and the API read it alike."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fse_core.errors import InputError
from fse_core.target import Target
from service import ids, targets

SIDES: Final = ("a", "b")


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two. `asked` is the model's name as it was given, empty where none was; `model` and `revision` are
    what it means. `pinned`: the address names its commit and its release.
    """

    letter: str
    asked: str
    model: str
    revision: str
    target: Target
    pinned: bool


def read(pairs: Sequence[tuple[str, str]]) -> tuple[Side, Side]:
    """Both sides. A parameter holds for both unless it stands under `a.` or `b.`; A is both where B is not named."""
    models: dict[str, str] = {}
    for name, text in pairs:
        if name in models:
            raise InputError(name, "is given more than once")
        if name in SIDES:
            models[name] = text
    a, b = (_side(letter, models.get(letter, models.get("a", "")), pairs) for letter in SIDES)
    return a, b


def _side(letter: str, asked: str, pairs: Sequence[tuple[str, str]]) -> Side:
    own = [(name[2:], text) for name, text in pairs if name.startswith(f"{letter}.")]
    taken = {name for name, _ in own}
    both = [(name, text) for name, text in pairs if name[:2] not in ("a", "b", "a.", "b.") and name not in taken]
    model, revision = ids.model_and_revision(asked, letter) if asked else ("", "main")
    try:
        target = targets.from_query([*both, *own])
    except InputError as error:
        own_fault = re.split(r"[.:]", error.path)[0] in taken
        raise InputError(f"{letter}.{error.path}" if own_fault else error.path, error.message) from None
    pinned = ids.is_commit(revision) and targets.names_release([*both, *own])
    return Side(letter=letter, asked=asked, model=model, revision=revision, target=target, pinned=pinned)
