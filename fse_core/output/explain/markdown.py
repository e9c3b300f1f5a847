"""`markdown`: a page of rules. The rules' own texts are Markdown already."""

from collections.abc import Iterator, Sequence

from fse_core.output import Format, Style
from fse_core.output.words.rules import kind
from fse_core.ruletext import RuleText


def _render(rules: Sequence[RuleText], style: Style) -> str:
    return "\n".join(line for rule in rules for line in _lines(rule)).rstrip("\n") + "\n"


def _lines(rule: RuleText) -> Iterator[str]:
    yield f"## {rule.id} {rule.name}"
    yield ""
    yield f"*{kind(rule)}*"
    for paragraph in rule.paragraphs:
        yield from ("", paragraph)
    yield ""


FORMAT: Format[RuleText] = Format(summary="a page of rules", render=_render)
