"""The shared expert is not as wide as the slot that it is loaded into.

A slot is as wide as a routed expert. Nothing in the release compares that with the width that the config gives the
shared expert. A narrower one fills part of its slot, and the rest stays whatever was in memory: the model answers
garbage without a line in the log. A wider one does not fit, and loading fails.
"""

from collections.abc import Iterator

from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, Rule, where

RULE = Rule(id="FSE117", name="shared-width", about_slots=True)

_SHARED, _ROUTED = "shared_expert_intermediate_size", "moe_intermediate_size"
_DEFAULT = 512
"""Both widths in Qwen's config classes."""


def check(facts: Facts) -> Iterator[Hit]:
    """Fused layers of the classes that know a width of the shared expert."""
    text = facts.model.text
    for part in facts.parts:
        layers = tuple(layer for layer in part.fused() if layer.shared.endswith(".shared_expert"))
        if not layers or not (_SHARED in text or _ROUTED in text):
            continue
        shared, routed = text.integer(_SHARED, _DEFAULT), text.integer(_ROUTED, _DEFAULT)
        if shared == routed:
            continue
        narrower = shared < routed
        then = (
            f"Loading fills {shared} of {routed} rows and columns and leaves the rest as it was in memory."
            if narrower
            else "It does not fit: RuntimeError while loading."
        )
        yield Hit(
            message=f"{where(layers)}: the shared expert is {shared} wide ({text.at(_SHARED)}), its slot {routed}, as "
            f"the routed experts are ({text.at(_ROUTED)}). {then}",
            consequence="silent_corruption" if narrower else "load_fails",
            layers=layers,
            evidence=(f"{text.at(_SHARED)}: {shared}", f"{text.at(_ROUTED)}: {routed}"),
            fixes=(fixes.fusion_off(),),
        )
