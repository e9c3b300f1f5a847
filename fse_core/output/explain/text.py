"""`text`: for people."""

from collections.abc import Iterator, Sequence

from fse_core.output import Format, Style
from fse_core.output.words.rules import kind
from fse_core.output.words.text import paint, wrapped
from fse_core.ruletext import RuleText


def _render(rules: Sequence[RuleText], style: Style) -> str:
    return "\n\n".join("\n".join(_lines(rule, style)) for rule in rules) + "\n"


def _lines(rule: RuleText, style: Style) -> Iterator[str]:
    yield paint(f"{rule.id} {rule.name}", "strong", style)
    yield kind(rule)
    for paragraph in rule.paragraphs:
        yield ""
        for line in paragraph.split("\n"):
            yield from wrapped(line, style)


FORMAT: Format[RuleText] = Format(summary="for people", render=_render)
