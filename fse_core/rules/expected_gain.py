"""What others measured of fusion for a model of this shape.

The figures are those of the reports that are named, and none is our own. They are quoted for models of the same class,
hidden size and number of experts, and for no others. Read together, such reports tell of a gain at low concurrency
(where the shared expert's own small launches count), and of about none at 64 and above, MiniMax-M3 excepted; running
the shared expert beside the routed ones on a second stream gains a part of it without fusion. A fused shape for which
the installed AITER has no tuned kernel gains less, or loses: FSE127 tells of it.

To know it for a deployment: the same image and checkpoint, one variable changed, a warm-up, two runs each at
concurrency 1, 4, 16 and 64, and the log line that proves that the path was taken.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fse_core.quantization.storage import NVFP4, Stored
from fse_core.report import Layer
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where

RULE = Rule(id="FSE138", name="expected-gain", severity="info", confidence="likely", about_gain=True)

_EXPERTS = ("n_routed_experts", "num_experts", "num_local_experts")


@cache
def _measured() -> tuple[Mapping[str, Any], ...]:
    import tomllib  # only where there may be something to quote

    data = tomllib.loads(Path(__file__).with_name("measured.toml").read_text("utf-8"))
    return tuple(data["measured"])


def check(facts: Facts) -> Iterator[Hit]:
    """One hit, where all of the target's layers are fused and reports are known."""
    part = facts.parts[0] if facts.parts else None
    fused = part.fused() if part else ()
    if part is None or not fused or len(fused) < len(part.layers) or not sound(facts, part):
        return
    hidden, experts = facts.model.text.get("hidden_size"), _experts(facts)
    if not isinstance(hidden, int) or hidden < _SMALLEST:
        return
    rows = [
        row
        for row in _measured()
        if part.part.model_class in row["classes"] and (row["hidden"], row["experts"]) == (hidden, experts)
    ]
    if rows:
        yield _hit(fused, rows)


_SMALLEST = 1024
"""No model of which reports are known is narrower."""


def _experts(facts: Facts) -> int | None:
    found = (facts.model.text.get(key) for key in _EXPERTS)
    return next((value for value in found if isinstance(value, int)), None)


def sound(facts: Facts, part: PartFacts) -> bool:
    """Whether all that is known tells of slots that are loaded as they should be."""
    if not faultless(facts, part):
        return False
    return part.gate.quantization is None or all(facts.by_stored(part, part.layers, _splits))


def faultless(facts: Facts, part: PartFacts) -> bool:
    """Whether headers, where they were read, tell of no fault of loading."""
    untold = facts.untold(part, part.layers)
    loadings = (facts.loading(part, layer) for layer in part.layers) if len(untold) < len(part.layers) else ()
    return not any(loading is not None and loading.faults for loading in loadings)


def _splits(stored: Stored | None) -> bool:
    if stored is None:
        return False
    return stored.routed == stored.shared and stored.routed.scales in ("none", "group") and stored.routed != NVFP4


def _hit(fused: tuple[Layer, ...], rows: list[Mapping[str, Any]]) -> Hit:
    quoted = "; ".join(f"{row['result']} ({row['source']})" for row in rows)
    return Hit(
        message=f"{where(fused)}: published for {rows[0]['model']}, fusion on against off: {quoted}. At concurrency 64 "
        "and above most reports tell of nothing.",
        consequence="none",
        layers=fused,
        evidence=tuple(f"{row['source']}: {row['workload']}, format {row['format']}" for row in rows),
    )
