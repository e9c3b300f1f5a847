"""`table`: for people. The prediction, and what the installed vLLM did."""

from collections.abc import Iterator, Sequence

from fse_core.doctor.asked import Asked
from fse_core.output import Format, Style
from fse_core.output.table import FORMAT as REPORTS
from fse_core.output.words.text import Tone, labelled, wrapped


def _render(answers: Sequence[Asked], style: Style) -> str:
    return "\n\n".join("\n".join(_lines(one, style)) for one in answers) + "\n"


def _lines(asked: Asked, style: Style) -> Iterator[str]:
    yield REPORTS.render([asked.report], style).rstrip("\n")
    yield ""
    gfx = asked.report.target["gfx"]
    where = f"pretended: it was told that this machine has {gfx}" if asked.pretended else f"real, {gfx}"
    yield from labelled("asked", f"vLLM {asked.version}, installed here; platform {where}", style, indent=0)
    built = f"{asked.fused} expert layers with slots for shared experts, {asked.separate} without"
    yield from labelled("built", built, style, indent=0)
    if asked.error is not None:
        yield from labelled("ended", f"{asked.error.type}: {asked.error.message}", style, indent=0)
    for text in asked.differences:
        for line in text.split("\n"):
            yield from wrapped(line, style, indent=2, tone="bad")
    yield ""
    words, tone = _summary(asked)
    yield from wrapped(words, style, tone=tone)


def _summary(asked: Asked) -> tuple[str, Tone]:
    if not asked.compared:
        return "nothing to compare: vLLM said nothing about fusion, or nothing was predicted", "warning"
    if asked.differences:
        return f"DIFFERS: {asked.agreed} of {asked.compared} as predicted", "bad"
    return f"agrees: {asked.agreed} of {asked.compared} as predicted", "good"


FORMAT: Format[Asked] = Format(summary="for people", render=_render)
