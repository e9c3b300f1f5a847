"""`json`: the `fse.rules/1` object for programs."""

import json
from collections.abc import Sequence

from fse_core.output import Format, Style
from fse_core.output.words.rules import rules_to_dict
from fse_core.ruletext import RuleText


def _render(rules: Sequence[RuleText], style: Style) -> str:
    return json.dumps(rules_to_dict(rules), indent=2, ensure_ascii=True) + "\n"


FORMAT: Format[RuleText] = Format(summary="fse.rules/1 for programs", render=_render)
