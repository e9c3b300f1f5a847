"""A scale is stored under a name that the release has no parameter for.

What one tool calls `weight_scale` another calls `weight_scale_inv`, and each quantization class of the release makes a
parameter of one name alone. Most model classes then end loading with an exception that names the parameter that there
is none of. Those that pass over a tensor which has no parameter leave the scales as they were in memory.

Only the headers of the safetensors files show it: this rule is silent without `--headers`.
"""

from collections.abc import Iterator

from fse_core.rules import told
from fse_core.rules.base import Facts, Hit, Rule

RULE = Rule(id="FSE116", name="scale-name", about_slots=True)


def check(facts: Facts) -> Iterator[Hit]:
    """Layers whose experts have scales of a name that none of the parameters has."""
    yield from told.hits(facts, RULE.id)
