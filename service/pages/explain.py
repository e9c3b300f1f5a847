"""Plain words for what a release says, from explanations.toml."""

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fse_core import releases

_FILE: Final = Path(__file__).with_name("explanations.toml")
_FIELD: Final = re.compile(r"\\\{(\w+)\\\}")


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """`because` ends a sentence; `plain` is what happens; `change` is what would make the answer another one."""

    because: str
    plain: str
    change: str

    def filled(self, values: Mapping[str, str]) -> "Explanation":
        """With `{name}` replaced by what the release named there. Other braces are kept."""

        def fill(text: str) -> str:
            return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), text)

        return Explanation(because=fill(self.because), plain=fill(self.plain), change=fill(self.change))


@functools.cache
def _data() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def _explanation(entry: Mapping[str, str]) -> Explanation:
    return Explanation(because=entry["because"], plain=entry["plain"], change=entry["change"])


def silent(name: str, **values: str) -> Explanation:
    """What the release does without a word about it."""
    return _explanation(_data()["silent"][name]).filled(values)


@functools.cache
def _patterns(version: str) -> Mapping[str, re.Pattern[str]]:
    """The release's words as patterns, each field a named group."""
    words = releases.load(version).words
    return {name: re.compile(_FIELD.sub(r"(?P<\1>.*)", re.escape(text)), re.DOTALL) for name, text in words.items()}


def reason(text: str, version: str) -> Explanation:
    """What a reason means: the gate's one, or the things that a class logs as it declines."""
    known = _of_words(text, version)
    return known or _declined([_matching("declines", part) or silent("undecided") for part in text.split("; ")])


def _declined(reasons: list[Explanation]) -> Explanation:
    general = silent("declined")
    return Explanation(
        because=reasons[0].because if len(reasons) == 1 else general.because,
        plain=" ".join([general.plain, *(one.plain for one in reasons)]),
        change=" ".join(one.change for one in reasons),
    )


def error(type: str, message: str, version: str) -> Explanation:
    """What an exception means."""
    found = _of_words(message, version) or _matching("errors", f"{type}: {message}")
    assert found is not None  # the last entry matches everything
    return found


def _of_words(text: str, version: str) -> Explanation | None:
    for name, pattern in _patterns(version).items():
        found = pattern.fullmatch(text)
        if found is not None:
            return _explanation(_data()["reasons"][name]).filled(found.groupdict())
    return None


def _matching(section: str, text: str) -> Explanation | None:
    entries = _data()[section].values()
    found = next((entry for entry in entries if re.fullmatch(entry["match"], text, re.DOTALL)), None)
    return None if found is None else _explanation(found)


def entries() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Every (section, name, entry), for whoever lists or tests them."""
    for section, named in _data().items():
        for name, entry in named.items():
            yield section, name, entry
