"""A GPU's share of a shared expert in Quark's MXFP4 that is not fused is no whole number of groups.

A group has 32 columns. Qwen's classes look whether the down projection of a shared expert beside the routed ones can be
cut so that each GPU gets whole groups, and raise a ValueError where not; with expert parallelism they copy it to every
GPU instead. A fused one is not looked at. Measured with 0.33.0 on a width of 320 at tp 4; read in the releases from
0.29.0 on (model_executor/models/qwen3_next.py:99 at 0.33.0).
"""

from collections.abc import Iterator

from fse_core.quantization.storage import MXFP4
from fse_core.report import Layer
from fse_core.rules import spread
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where

RULE = Rule(id="FSE128", name="tp-divides-groups")

_GROUP = 32
_SOURCE = "model_executor/models/qwen3_next.py:99 at 0.33.0"


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for the layers whose shared experts stay apart."""
    target = facts.target
    if not facts.release.branches or facts.failure is not None or target.ep or (target.dp, target.pcp) != (1, 1):
        return
    for part in facts.parts:
        layers = tuple(layer for layer in part.layers if _apart(facts, part, layer))
        width = spread.shared_width(facts, part, layers[0]) if layers else None
        if width is not None and width % target.tp == 0 and not spread.divides(width, target.tp, _GROUP):
            yield _hit(facts, layers, width)


def _apart(facts: Facts, part: PartFacts, layer: Layer) -> bool:
    quantization = part.gate.quantization
    if quantization is None or quantization.class_name != "QuarkConfig" or layer.decision.decision != "separate":
        return False
    stored = facts.stored(part, layer)
    return layer.shared.endswith(".shared_expert") and stored is not None and stored.shared == MXFP4


def _hit(facts: Facts, layers: tuple[Layer, ...], width: int) -> Hit:
    text, tp = facts.model.text, facts.target.tp
    sizes = spread.legal(facts, _GROUP, width)
    fewer = spread.fewer_gpus(facts, sizes)
    return Hit(
        message=f"{where(layers)}: at tp {tp} each GPU has {width // tp} of the {width} columns of the shared expert's "
        f"down projection, no whole number of MXFP4 groups of {_GROUP}: vLLM {facts.release.version} does not start. "
        f"{spread.words(sizes)} would do, or expert parallelism.",
        consequence="start_fails",
        layers=layers,
        evidence=(f"{text.at(spread.QWEN_SHARED)}: {width}", _SOURCE),
        fixes=(*((fewer,) if fewer else ()), spread.split_experts()),
    )
