"""The shared expert is stored in another format than the routed experts, and the release fuses it without asking.

A fused shared expert is one more slot in the routed experts' tensors, and has their format. Releases before 0.29.0 have
no gate: the variable alone decides. What is stored in another format then does not fit the slot. Loading fails, or,
which is worse, 16-bit numbers are copied into FP8 ones while the slot's scales are never written: the model answers
garbage, without a line in the log.

What the config leaves out of quantization by its own list is taken for stored in 16 bits.
"""

from collections.abc import Iterator

from fse_core.quantization.storage import PLAIN
from fse_core.rules import told
from fse_core.rules.base import Facts, Hit, Rule
from fse_core.rules.stored_apart import groups, hit

RULE = Rule(id="FSE101", name="shared-stored-unlike-routed", about_slots=True, mended_by_quantizing=True)


def check(facts: Facts) -> Iterator[Hit]:
    """Fused layers in a release without a gate."""
    yield from told.hits(facts, RULE.id)
    if facts.release.branches:
        return
    because = f"vLLM {facts.release.version} fuses them without asking."
    for part, stored, layers in groups(facts):
        if stored.routed != PLAIN:
            yield hit(facts, part, stored, layers, because)
