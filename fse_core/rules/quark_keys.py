"""A block of AMD Quark lacks a key that the release cannot do without.

`QuarkConfig` reads `export` as it is set up, and `exclude` and `layer_type_quant_config` as soon as the first module
is built; where such a key is missing or null, it does not look on but ends the start, partly without a word of why. An
export that was interrupted, or a config that was put together by hand, lacks them.
"""

from collections.abc import Iterator
from typing import Any

from fse_core.report import Fix
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, Rule
from fse_core.rules.failing import raised

RULE = Rule(id="FSE112", name="quark-keys")

_EMPTY: dict[str, Any] = {
    "export": {"kv_cache_group": [], "pack_method": "reorder"},
    "exclude": [],
    "layer_type_quant_config": {},
    "global_quant_config": None,
}
"""The keys, and what says nothing in their place; of a global scheme nothing does."""


def check(facts: Facts) -> Iterator[Hit]:
    """One hit, where the start fails and such keys are lacking."""
    block = facts.model.quantization
    if block is None or str(block.fields.get("quant_method")).lower() != "quark":
        return
    lacking = [key for key in _EMPTY if block.fields.get(key) is None]
    found = next(raised(facts), None)
    if found is None or not lacking or found.failure.type not in _TYPES:
        return
    how = [f"{block.fields.at(key)} is {'null' if key in block.fields else 'missing'}" for key in lacking]
    yield Hit(
        message=f"{', '.join(how)}: vLLM {facts.release.version} does not start. It says "
        f"{found.failure.type}: {found.failure.message or '(nothing)'}",
        consequence="start_fails",
        layers=found.layers,
        evidence=(block.fields.path, f"{found.failure.type}: {found.failure.message}"),
        fixes=tuple(_fixes(facts, lacking)),
    )


_TYPES = ("ValidationError", "AssertionError", "TypeError", "AttributeError")


def _fixes(facts: Facts, lacking: list[str]) -> Iterator[Fix]:
    """All at once: one alone would only bring the next error."""
    patch = fixes.block_patch(facts, {key: _EMPTY[key] for key in lacking if _EMPTY[key] is not None})
    if patch is not None and "global_quant_config" not in lacking:
        summary = f"add {', '.join(lacking)}, empty, if the export left nothing out"
        yield Fix(kind="config_patch", safety="needs-evaluation", summary=summary, patch=patch)
