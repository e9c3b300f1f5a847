"""Whether AITER's tables of tuned kernels have a row for the shape that fusion makes of the experts.

With fusion there is one more expert for each slot, and each token chooses it: 257 experts and 9 chosen instead of 256
and 8. AITER looks its kernels up by that. Where its tables have no row, a default is taken, so that fusion may lose
what it gains where only the shape without it is tuned; of a few shapes it was reported that the default fails.

The shapes here are those of the tables named in the evidence, at the commits named there, for the usual GPUs (MI300X,
MI325X, MI350X, MI355X). A container may have another AITER, so that nothing here is certain. Two things settle it: the
log, where AITER writes `[fused_moe] using ... default for (...)` with a shape that has no row, and the tables under
`aiter/configs` of the AITER that is installed.

Nothing is said of experts that are split over GPUs, of other backends than AITER's, of formats other than FP8 (in
blocks of 128, or with one scale a tensor) and MXFP4 with MXFP4 activations, nor of shapes that no table here has.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from fse_core import request
from fse_core.report import Fix, Layer
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where
from fse_core.rules.expected_gain import faultless, sound
from fse_core.rules.kernel_shape import KernelShape, aiter_runs, kernel_shape

RULE = Rule(id="FSE127", name="tuned-shape", severity="info", confidence="likely", about_gain=True)

_SMALLEST: Final = 1024
"""No table has a model that is narrower."""

_SETTLES: Final = "The log line `[fused_moe] using ... default for` and aiter/configs tell of the AITER installed"

Key = tuple[str, str, tuple[int, ...]]
"""GPU architecture, AITER's name for the scales, and a shape's numbers."""


@dataclass(frozen=True, kw_only=True)
class _Failing:
    text: str
    source: str


@dataclass(frozen=True, kw_only=True)
class _Known:
    """Where rows were found for a key, and what was reported of keys without any."""

    rows: Mapping[Key, str]
    failing: Mapping[Key, _Failing]


def _where(table: Mapping[str, Any]) -> str:
    return f"{table['file']} at {table['commit'][:12]}, for GPUs with {table['units']} compute units"


@cache
def _known() -> _Known:
    import tomllib  # only where there may be something to quote

    data = tomllib.loads(Path(__file__).with_name("tuned_shapes.toml").read_text("utf-8"))
    rows = {
        (table["gfx"], table["scales"], tuple(shape)): _where(table)
        for table in data["table"]
        for shape in table["shapes"]
    }
    failing = {
        (gfx, one["scales"], tuple(shape)): _Failing(text=one["text"], source=one["source"])
        for one in data["failing"]
        for gfx in one["gfx"]
        for shape in one["shapes"]
    }
    return _Known(rows=rows, failing=failing)


def check(facts: Facts) -> Iterator[Hit]:
    """At most one hit about each of: the target's fused layers, and its layers whose kernels were reported to fail."""
    part = facts.parts[0] if facts.parts else None
    hidden = facts.model.text.get("hidden_size")
    if part is None or not part.layers or not isinstance(hidden, int) or hidden < _SMALLEST:
        return
    if facts.failure is not None or not aiter_runs(facts):
        return
    fused = part.fused()
    if len(fused) == len(part.layers):
        yield from _of_all(facts, part, fused)
    elif all(layer.decision.decision == "separate" for layer in part.layers):
        shape = kernel_shape(facts, part, part.layers[0])
        if shape is not None:
            yield from _failing(facts, part.layers, shape)


def _of_all(facts: Facts, part: PartFacts, fused: tuple[Layer, ...]) -> Iterator[Hit]:
    """What is known of layers that are all fused."""
    alone = kernel_shape(facts, part, fused[0]) if fused[0].mode == "aiter" else None
    if alone is None:
        return
    together = alone.with_slots(fused[0].slots)
    own, without = (_known().rows.get(_key(facts, shape)) for shape in (together, alone))
    if (own or without) and not _loads(facts, part):
        return
    if own is None and without is not None:
        yield _untuned(fused, together, alone, without)
    elif own is not None:
        yield _tuned(fused, together, alone, own, without)
    yield from _failing(facts, fused, together)


def _loads(facts: Facts, part: PartFacts) -> bool:
    """Whether the slots are what the shape says: loaded as they are stored, or quantized while they load."""
    if part.gate.overlay is not None and "online" in facts.release.branches:
        return faultless(facts, part)
    return sound(facts, part)


def _key(facts: Facts, shape: KernelShape) -> Key:
    return facts.target.gfx, shape.scales, shape.key


def _untuned(layers: tuple[Layer, ...], fused: KernelShape, alone: KernelShape, table: str) -> Hit:
    return Hit(
        message=f"{where(layers)}: AITER looks up kernels for {fused.words()}, and no table known here has a row for "
        f"that, while one has the shape without fusion, {alone.experts} experts and {alone.chosen} chosen. Fusion may "
        f"then gain less, or lose: measure both. {_SETTLES}.",
        consequence="slower",
        severity="warning",
        layers=layers,
        evidence=(f"without fusion: {table}",),
    )


def _tuned(layers: tuple[Layer, ...], fused: KernelShape, alone: KernelShape, table: str, other: str | None) -> Hit:
    without = f"without fusion ({alone.experts} experts, {alone.chosen} chosen): {other or 'no row known here'}"
    return Hit(
        message=f"{where(layers)}: AITER looks up kernels for {fused.words()}, for which AITER has tuned rows. "
        f"{_SETTLES}.",
        consequence="none",
        layers=layers,
        evidence=(f"with fusion: {table}", without),
    )


def _failing(facts: Facts, layers: Sequence[Layer], shape: KernelShape) -> Iterator[Hit]:
    """What was reported of a shape that no known table has."""
    key = _key(facts, shape)
    found = _known().failing.get(key)
    if found is None or key in _known().rows:
        return
    own = tuple(layers)
    yield Hit(
        message=f"{where(own)}: AITER looks up kernels for {shape.words()} on {facts.target.gfx}. Without a tuned row "
        f"for that, as was reported, {found.text}. {_SETTLES}.",
        consequence="start_fails",
        severity="warning",
        layers=own,
        evidence=(f"reported in {found.source}; not measured",),
        fixes=(_without_aiter(),),
    )


def _without_aiter() -> Fix:
    return Fix(
        kind="env",
        safety="lossless",
        summary=f"set {request.AITER_MOE}=0: other kernels than AITER's run the experts, and nothing is fused",
        patch={request.AITER_MOE: "0"},
    )
