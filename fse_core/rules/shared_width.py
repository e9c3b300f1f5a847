"""The shared expert is not as wide as the slot that it is loaded into.

A slot is as wide as a routed expert. Nothing in the release compares that with the width that the shared expert has. A
narrower one fills part of its slot, and the rest stays whatever was in memory: the model answers garbage without a line
in the log. A wider one does not fit, and loading fails; before 0.23.0 its first part is taken, and the rest is dropped
without a word.
"""

from collections.abc import Iterator

from fse_core.rules import fixes, told
from fse_core.rules.base import Facts, Hit, Rule, where

RULE = Rule(id="FSE117", name="shared-width", about_slots=True)

_SHARED, _ROUTED = "shared_expert_intermediate_size", "moe_intermediate_size"
_DEFAULT = 512
"""Both widths in Qwen's config classes."""


def check(facts: Facts) -> Iterator[Hit]:
    """Fused layers of the classes that know a width of the shared expert."""
    yield from told.hits(facts, RULE.id)
    text = facts.model.text
    for part in facts.parts:
        layers = tuple(layer for layer in facts.untold(part, part.fused()) if layer.shared.endswith(".shared_expert"))
        if not layers or not (_SHARED in text or _ROUTED in text):
            continue
        shared, routed = text.integer(_SHARED, _DEFAULT), text.integer(_ROUTED, _DEFAULT)
        if shared == routed:
            continue
        silent, then = _then(facts, shared, routed)
        yield Hit(
            message=f"{where(layers)}: the shared expert is {shared} wide ({text.at(_SHARED)}), its slot {routed}, as "
            f"the routed experts are ({text.at(_ROUTED)}). {then}",
            consequence="silent_corruption" if silent else "load_fails",
            layers=layers,
            evidence=(f"{text.at(_SHARED)}: {shared}", f"{text.at(_ROUTED)}: {routed}"),
            fixes=(fixes.fusion_off(),),
        )


def _then(facts: Facts, shared: int, routed: int) -> tuple[bool, str]:
    """Whether nothing is raised, and what happens in words."""
    if shared < routed:
        return True, f"Loading fills {shared} of {routed} rows and columns and leaves the rest as it was in memory."
    if facts.release.has("slots_take_part_of_wider_tensors"):
        return True, f"Loading takes the first {routed} of {shared} rows and columns and drops the rest without a word."
    return False, "It does not fit: RuntimeError while loading."
