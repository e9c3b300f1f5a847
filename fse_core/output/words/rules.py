"""What the formats of rules share."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from fse_core.ruletext import RuleText
from fse_core.version import __version__

SCHEMA: Final = "fse.rules/1"


def rules_to_dict(rules: Sequence[RuleText]) -> dict[str, Any]:
    """The `fse.rules/1` object: what `fse rules` and `fse explain` print as JSON."""
    return {
        "schema": SCHEMA,
        "engine": __version__,
        "rules": [{**asdict(rule), "summary": rule.summary, "text": "\n\n".join(rule.paragraphs)} for rule in rules],
    }


def kind(rule: RuleText) -> str:
    """`error, certain`, of what it says unless a finding says otherwise."""
    return f"{rule.severity}, {rule.confidence}"
