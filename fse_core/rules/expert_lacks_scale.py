"""An expert's numbers are stored without the scale that they need, while its peers have theirs.

The parameter for it is made for all experts at once, so that nothing misses the one: its part stays whatever was in
memory, and this expert's output is scaled by it. Nothing is raised, and nothing is logged.

Only the headers of the safetensors files show it: this rule is silent without `--headers`.
"""

from collections.abc import Iterator

from fse_core.rules import told
from fse_core.rules.base import Facts, Hit, Rule

RULE = Rule(id="FSE115", name="expert-lacks-scale", about_slots=True)


def check(facts: Facts) -> Iterator[Hit]:
    """Layers with experts, routed or shared, that lack a scale."""
    yield from told.hits(facts, RULE.id)
