"""The routed experts are left out of quantization while the shared expert is quantized, and the release fuses them.

A fused slot is then a 16-bit one, and the shared expert's scales have no parameter to go to: loading fails with a
KeyError that names the routed experts' scale. Quark's branch of the gate looks at the shared expert alone, so that
releases with a gate accept this too.
"""

from collections.abc import Iterator

from fse_core.quantization.storage import PLAIN
from fse_core.rules import told
from fse_core.rules.base import Facts, Hit, Rule
from fse_core.rules.stored_apart import groups, hit

RULE = Rule(id="FSE108", name="routed-excluded-shared-quantized", about_slots=True)


def check(facts: Facts) -> Iterator[Hit]:
    """Fused layers whose routed experts are 16-bit while the shared one is not."""
    yield from told.hits(facts, RULE.id)
    asks = "looks at the shared expert alone" if facts.release.branches else "fuses them without asking"
    for part, stored, layers in groups(facts):
        if stored.routed == PLAIN:
            yield hit(facts, part, stored, layers, f"vLLM {facts.release.version} {asks}.")
