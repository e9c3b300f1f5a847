"""The model class does not take part in fusion in this release, or not at this target.

Whether a class fuses is a matter of release, class and options together. Of some the shared experts are modules of
their own in every release; some joined later; and MiniMax-M3 and DeepSeek-V4 switch fusion off under expert
parallelism. The variable does nothing then (but for known faults), and nobody says
so.
"""

from collections.abc import Iterator

from fse_core import releases, request
from fse_core.report import Fix, Layer
from fse_core.rules import fixes, known_fault
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where

RULE = Rule(id="FSE120", name="class-never-fuses", severity="info")


def check(facts: Facts) -> Iterator[Hit]:
    """The target's layers, where its class does not even ask."""
    part = facts.parts[0] if facts.parts else None
    if part is None or not part.layers or facts.failure is not None or not facts.target.is_on(request.FUSION):
        return
    layers = tuple(layer for layer in part.layers if layer.decision.decision == "separate")
    wired = part.part.model_class in facts.release.wired
    if layers and not wired:
        yield _never(facts, part, layers)
    elif layers and not part.part.asks and facts.target.ep:
        yield _split(facts, part, layers)


def _never(facts: Facts, part: PartFacts, layers: tuple[Layer, ...]) -> Hit:
    name = part.part.model_class
    wires = [version for version in releases.known() if name in releases.load(version).wired]
    later = next((version for version in wires if _after(version, facts.release.version)), None)
    ever = "in no release that is known" if not wires else f"in {wires[0]} to {wires[-1]}"
    then = "" if known_fault.minds_the_variable(facts, part) else " The variable does nothing for it."
    return Hit(
        message=f"{where(layers)}: {name} does not take part in fusion in vLLM {facts.release.version} (it does "
        f"{ever}).{then}",
        consequence="not_fused",
        layers=layers,
        evidence=(f"architectures: {facts.model.architecture}",),
        fixes=(fixes.later_release(facts, later, f"has fusion for {name}"),) if later else (),
    )


def _after(version: str, than: str) -> bool:
    known = releases.known()
    return known.index(version) > known.index(than)


def _split(facts: Facts, part: PartFacts, layers: tuple[Layer, ...]) -> Hit:
    return Hit(
        message=f"{where(layers)}: {part.part.model_class} switches fusion off where experts are split over GPUs.",
        consequence="not_fused",
        layers=layers,
        evidence=("--enable-expert-parallel",),
        fixes=(
            Fix(kind="flag", safety="lossless", summary="serve it without expert parallelism", patch={"--ep": False}),
        ),
    )
