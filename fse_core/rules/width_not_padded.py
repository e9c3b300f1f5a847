"""A GPU's share of an MXFP4 expert is a width for which AITER's kernels were reported to compute wrongly.

With MXFP4 weights and MXFP4 activations AITER's second stage was reported to give results of no use, and to be fast at
it, where the share is no multiple of 256 (128, 384 and 640 were named). Releases up to 0.31.0 pad the share to such a
multiple; from 0.32.0 on they pad these experts to multiples of 128 alone
(model_executor/layers/fused_moe/oracle/mxfp4.py:897 at 0.33.0). Whether the AITER that is installed has kernels for the
width, one evaluation at another tensor-parallel size or with AITER's MoE off tells.
"""

from collections.abc import Iterator

from fse_core import request
from fse_core.report import Layer
from fse_core.rules import spread
from fse_core.rules.base import Facts, Hit, Rule, where
from fse_core.rules.kernel_shape import is_w4a4

RULE = Rule(id="FSE107", name="width-not-padded", severity="warning", confidence="likely")

_UNIT = 256
_SOURCE = "reported in ROCm/aiter#5233 and vllm-project/vllm#55104; not measured"


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for the layers of each part whose experts AITER runs so."""
    target = facts.target
    width = spread.routed_width(facts)
    if width is None or not facts.release.has("mxfp4_shares_of_128") or facts.failure is not None:
        return
    if target.gfx != "gfx950" or target.ep or (target.dp, target.pcp) != (1, 1):
        return
    if not request.aiter_moe(target, facts.release) or target.moe_backend not in ("auto", "aiter"):
        return
    if width % target.tp or spread.divides(width, target.tp, _UNIT):
        return
    for part in facts.parts:
        layers = tuple(layer for layer in part.layers if is_w4a4(facts, part, layer))
        if layers:
            yield _hit(facts, layers, width)


def _hit(facts: Facts, layers: tuple[Layer, ...], width: int) -> Hit:
    text, tp = facts.model.text, facts.target.tp
    sizes = spread.legal(facts, _UNIT, width)
    fewer = spread.fewer_gpus(facts, sizes)
    return Hit(
        message=f"{where(layers)}: at tp {tp} each GPU has {width // tp} of an expert's {width} rows, no multiple of "
        f"{_UNIT}, for which AITER's MXFP4 kernels were reported to answer wrongly and fast. An evaluation with this "
        f"AITER tells. Multiples are had with {spread.words(sizes)}.",
        consequence="silent_corruption",
        layers=layers,
        evidence=(f"{text.at(spread.ROUTED)}: {width}", _SOURCE),
        fixes=(fewer,) if fewer else (),
    )
