"""What happens to which layers with another release, for people."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from service.pages.layers import State, title_words

_STATES: Final[Mapping[str, tuple[State, str]]] = {
    "fused": ("fused", "fused"),
    "broken": ("breaks", "fused, and it goes wrong"),
    "futile": ("futile", "fused, but the start fails"),
    "separate": ("separate", "separate"),
    "error": ("error", "error"),
    "undecided": ("undecided", "not reached"),
    "absent": ("none", "no such layer"),
}


@dataclass(frozen=True, kw_only=True)
class Part:
    """One side of a change."""

    state: State
    word: str
    quoted: str


@dataclass(frozen=True, kw_only=True)
class Change:
    """Layers to which the same happens."""

    title: str
    count: int
    words: str
    state: State
    old: Part
    new: Part
    alike: bool
    changed: bool


def change_of(change: Mapping[str, Any]) -> Change:
    """An entry of `layers` of an `fse.diff/1` object."""
    return Change(
        title=title_words(change["part"], change["layers"]),
        count=len(change["indices"]),
        words=change["change"],
        state=_STATES[change["after"]][0],
        old=_part(change["before"], change["old"]),
        new=_part(change["after"], change["new"]),
        alike=change["alike"],
        changed=change["changed"],
    )


def _part(state: str, layer: Mapping[str, Any] | None) -> Part:
    shown, word = _STATES[state]
    error = layer["error"] if layer else None
    quoted = f"{error['type']}: {error['message']}" if error else (layer or {}).get("reason") or ""
    return Part(state=shown, word=word, quoted=quoted)
