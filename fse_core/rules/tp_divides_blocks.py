"""A GPU's share of an expert is no whole number of FP8 blocks, and the release does not start.

FP8 in blocks has one scale for 128 rows and columns. Tensor parallelism cuts each expert's width, so that the share has
to be a multiple of the block; AITER's kernels take no smaller ones. With expert parallelism the routed experts stay
whole. A shared expert that is not fused is still cut then: only where it becomes a slot is it whole as well.

Measured with 0.20.2, 0.24.0, 0.28.0, 0.30.0 and 0.33.0 on a width of 640 at tp 2 and 8: a ValueError each time. Without
AITER other kernels may take smaller blocks; the rule says nothing then.
"""

from collections.abc import Iterator
from functools import partial

from fse_core import request
from fse_core.quantization.fp8 import Fp8
from fse_core.quantization.storage import FP8_BLOCK
from fse_core.report import Fix, Layer
from fse_core.rules import spread
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, by, where

RULE = Rule(id="FSE113", name="tp-divides-blocks")

_SOURCE = "model_executor/layers/quantization/utils/fp8_utils.py:1296, 1347 at 0.33.0"


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for each side and part: the routed experts, or a shared expert beside them."""
    target = facts.target
    if facts.failure is not None or (target.dp, target.pcp) != (1, 1) or target.moe_backend not in ("auto", "aiter"):
        return
    for part in facts.parts:
        quantization = part.gate.quantization
        if (
            type(quantization) is not Fp8
            or quantization.block is None
            or quantization.block[0] != quantization.block[1]
        ):
            continue
        unit = quantization.block[0]
        if _whole(facts, unit) and len(part.fused()) == len(part.layers):
            continue
        for (routed, shared), layers in by(part.layers, partial(_cut, facts, part, unit)).items():
            if routed or shared:
                yield _hit(facts, part, layers, unit, routed=routed)


def _whole(facts: Facts, unit: int) -> bool:
    """Whether each GPU's share of a routed expert is whole blocks, or need not be."""
    target, width = facts.target, spread.routed_width(facts)
    divides = width is not None and spread.divides(width, target.tp, unit)
    return target.ep or divides or not request.aiter_moe(target, facts.release)


def _cut(facts: Facts, part: PartFacts, unit: int, layer: Layer) -> tuple[bool, bool]:
    """Whether the routed experts' share is no multiple of the block, and whether the shared expert's own is not."""
    tp, routed, shared = facts.target.tp, spread.routed_width(facts), spread.shared_width(facts, part, layer)
    if routed is None or shared is None:
        return False, False
    whole = _whole(facts, unit)
    apart = layer.decision.decision == "separate" and not spread.divides(shared, tp, unit)
    stored = None if whole and not apart else facts.stored(part, layer)
    if stored is None:
        return False, False
    return not whole and stored.routed == FP8_BLOCK, apart and stored.shared == FP8_BLOCK


def _hit(facts: Facts, part: PartFacts, layers: tuple[Layer, ...], unit: int, *, routed: bool) -> Hit:
    text, tp = facts.model.text, facts.target.tp
    key = spread.ROUTED if routed else spread.shared_key(layers[0])
    width = spread.routed_width(facts) if routed else spread.shared_width(facts, part, layers[0])
    own = spread.shared_width(facts, part, layers[0]) if layers[0].decision.decision == "separate" else None
    sizes = spread.legal(facts, unit, *(one for one in (width, own) if one is not None))
    side = "routed expert" if routed else "shared expert, which is not fused,"
    block = facts.model.quantization
    size = f"{(width or 0) / tp:g}"
    return Hit(
        message=f"{where(layers)}: at tp {tp} each GPU has {size} of the {width} rows of a {side} and a block has "
        f"{unit}: vLLM {facts.release.version} does not start. {spread.words(sizes)} would do"
        + (", or expert parallelism." if routed else "."),
        consequence="start_fails",
        layers=layers,
        evidence=(
            f"{text.at(key)}: {text.get(key)}",
            *((block.fields.at("weight_block_size"),) if block else ()),
            _SOURCE,
        ),
        fixes=tuple(_fixes(facts, sizes, routed=routed)),
    )


def _fixes(facts: Facts, sizes: tuple[int, ...], *, routed: bool) -> Iterator[Fix]:
    fewer = spread.fewer_gpus(facts, sizes)
    if fewer is not None:
        yield fewer
    if routed and not facts.target.ep:
        yield spread.split_experts()
