"""`table`: for people. What each rule is called, how bad it is, and what it tells."""

from collections.abc import Iterator, Sequence

from fse_core.output import Format, Style
from fse_core.output.words.rules import kind
from fse_core.output.words.text import paint, wrapped
from fse_core.ruletext import RuleText

_INDENT = 8


def _render(rules: Sequence[RuleText], style: Style) -> str:
    return "\n".join(line for rule in rules for line in _lines(rule, style)) + "\n"


def _lines(rule: RuleText, style: Style) -> Iterator[str]:
    yield f"{paint(rule.id, 'strong', style)}  {rule.name} ({kind(rule)})"
    yield from wrapped(rule.summary, style, indent=_INDENT)


FORMAT: Format[RuleText] = Format(summary="for people", render=_render)
