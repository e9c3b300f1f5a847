"""The gate says yes although the checkpoint's own exclude list says that the shared expert is stored otherwise.

The gate looks for the full names of the shared expert's projections (and, with Quark, for `re:` patterns). A list that
names the module that holds them, the last part of the name alone, or a shell pattern means nothing to it: it takes the
shared expert for quantized like the routed ones, fuses, and loading breaks. The same entries mean nothing to the
release with fusion off either, so that the remedy is to write the names in full.
"""

from collections.abc import Iterator

from fse_core.quantization.storage import PLAIN
from fse_core.rules import told
from fse_core.rules.base import Facts, Hit, Rule
from fse_core.rules.stored_apart import groups, hit

RULE = Rule(id="FSE103", name="gate-accepts-what-breaks", about_slots=True, mended_by_quantizing=True)


def check(facts: Facts) -> Iterator[Hit]:
    """Fused layers in a release with a gate."""
    yield from told.hits(facts, RULE.id)
    if not facts.release.branches:
        return
    because = f"The gate of vLLM {facts.release.version} does not take such an entry for these modules, and says yes."
    for part, stored, layers in groups(facts):
        if stored.routed != PLAIN:
            yield hit(facts, part, stored, layers, because)
