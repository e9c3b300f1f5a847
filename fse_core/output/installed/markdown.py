"""`markdown`: to paste into an issue."""

from collections.abc import Iterator, Sequence

from fse_core.output import Format, Style
from fse_core.output.words.installed import calls_itself, functions, verdict
from fse_core.output.words.markdown import code, plain
from fse_core.releases.installed import Installed


def _render(installations: Sequence[Installed], style: Style) -> str:
    return "\n\n".join("\n".join(_lines(found)) for found in installations) + "\n"


def _lines(found: Installed) -> Iterator[str]:
    yield f"{code(found.folder)} {plain(calls_itself(found))}: **{plain(verdict(found))}**"
    if found.differing:
        yield ""
    yield from (f"- {code(name)} {how}" for name, how in functions(found))


FORMAT: Format[Installed] = Format(summary="to paste into an issue", render=_render)
