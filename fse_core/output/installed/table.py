"""`table`: for people."""

from collections.abc import Iterator, Sequence

from fse_core.output import Format, Style
from fse_core.output.words.installed import calls_itself, functions, verdict
from fse_core.output.words.text import Tone, wrapped
from fse_core.releases.installed import Installed

_TONES: dict[str, Tone] = {"identical": "good", "closest": "warning", "unknown": "bad"}


def _render(installations: Sequence[Installed], style: Style) -> str:
    return "\n\n".join("\n".join(_lines(found, style)) for found in installations) + "\n"


def _lines(found: Installed, style: Style) -> Iterator[str]:
    yield from wrapped(found.folder, style, tone="strong")
    yield from wrapped(calls_itself(found), style, indent=2)
    yield from wrapped(verdict(found), style, indent=2, tone=_TONES[found.kind])
    for name, how in functions(found):
        yield from wrapped(f"{name} {how}", style, indent=6)


FORMAT: Format[Installed] = Format(summary="for people", render=_render)
