"""`markdown`: a table of the rules."""

from collections.abc import Sequence

from fse_core.output import Format, Style
from fse_core.output.words.markdown import table
from fse_core.ruletext import RuleText


def _render(rules: Sequence[RuleText], style: Style) -> str:
    rows = ([rule.id, rule.name, rule.severity, rule.confidence, rule.summary.replace("|", r"\|")] for rule in rules)
    return "\n".join(table(["rule", "name", "severity", "confidence", "what it tells"], rows)) + "\n"


FORMAT: Format[RuleText] = Format(summary="to paste into a page", render=_render)
