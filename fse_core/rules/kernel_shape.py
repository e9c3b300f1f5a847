"""The shape by which AITER looks up the kernels of a layer's experts, and whether AITER runs them at all.

Its tables are keyed by the GPU, the hidden size, the width of an expert on one GPU, the experts, those chosen a token,
the activation, dtypes and the kind of scales; shared experts that are slots count as experts, and as chosen. What vLLM
hands over is in model_executor/layers/fused_moe/experts/rocm_aiter_moe.py:361 at 0.33.0.
"""

from dataclasses import dataclass, replace
from typing import Final

from fse_core import request
from fse_core.errors import InputError
from fse_core.loads.sizes import Sizes, sizes
from fse_core.quantization.fp8 import Fp8
from fse_core.quantization.keys import MXFP4_DYNAMIC, MXFP4_STATIC
from fse_core.quantization.storage import FP8_BLOCK, FP8_TENSOR
from fse_core.report import Layer
from fse_core.rules.base import Facts, PartFacts

_MX_UNITS: Final = (256, 128)
"""What the share of an MXFP4 expert is padded to: before `mxfp4_shares_of_128`, and since."""

_OTHERS: Final = ("DeepseekV4", "DeepSeekV4")
"""Classes whose MXFP4 experts do not run with the activations of their scheme (rocm_aiter_moe.py:428 at 0.33.0)."""


@dataclass(frozen=True, kw_only=True)
class KernelShape:
    """The key without what a config does not say. `hidden` x `width` is an expert on one GPU, `scales` AITER's name."""

    hidden: int
    width: int
    experts: int
    chosen: int
    scales: str

    @property
    def key(self) -> tuple[int, int, int, int]:
        return self.hidden, self.width, self.experts, self.chosen

    def with_slots(self, slots: int) -> "KernelShape":
        """The same with so many shared experts fused."""
        return replace(self, experts=self.experts + slots, chosen=self.chosen + slots)

    def words(self) -> str:
        return f"{self.experts} experts, {self.chosen} chosen, {self.hidden} x {self.width}, {self.scales}"


def aiter_runs(facts: Facts) -> bool:
    """Whether AITER is asked to run the experts, with a share of each of them on every GPU."""
    target = facts.target
    if target.ep or (target.dp, target.pcp) != (1, 1) or target.moe_backend not in ("auto", "aiter"):
        return False
    return request.aiter_moe(target, facts.release)


def is_w4a4(facts: Facts, part: PartFacts, layer: Layer) -> bool:
    """Whether weights and activations of the routed experts are MXFP4."""
    quantization = part.gate.quantization
    if quantization is None or quantization.class_name != "QuarkConfig":
        return False
    return quantization.routed_keys(facts.question(part, layer)) == (MXFP4_STATIC, MXFP4_DYNAMIC)


def kernel_shape(facts: Facts, part: PartFacts, layer: Layer) -> KernelShape | None:
    """That of the layer's routed experts alone; None where config, format and class do not surely tell it."""
    text = facts.model.text
    if part.part.model_class.startswith(_OTHERS) or text.get("hidden_act") not in (None, "silu"):
        return None
    if any(text.get(key) not in (None, "bfloat16") for key in ("torch_dtype", "dtype")):
        return None
    try:
        chosen = text.optional_integer("num_experts_per_tok")
    except InputError:
        return None
    numbers, scales = sizes(text, 0, facts.target), _scales(facts, part, layer)
    if not (chosen and numbers and scales):
        return None
    width = _width(facts, numbers, scales)
    if width is None:
        return None
    return KernelShape(hidden=numbers.hidden, width=width, experts=numbers.experts, chosen=chosen, scales=scales)


def _scales(facts: Facts, part: PartFacts, layer: Layer) -> str | None:
    """As AITER calls them, None for a format that it is not known to take for one of these."""
    quantization = part.gate.quantization
    if not isinstance(quantization, Fp8):
        return "per_1x32" if facts.target.gfx == "gfx950" and is_w4a4(facts, part, layer) else None
    stored = facts.stored(part, layer)
    if stored is None or quantization.class_name != "Fp8Config":
        return None
    if stored.routed == FP8_BLOCK and quantization.block == (128, 128):
        return "per_1x128"
    return "per_Tensor" if stored.routed == FP8_TENSOR else None


def _width(facts: Facts, numbers: Sizes, scales: str) -> int | None:
    """A GPU's share of an expert as AITER sees it, None where the release does not start with it."""
    share = numbers.partition
    if scales == "per_1x128":
        return share if share % 128 == 0 else None
    if scales == "per_1x32":
        unit = _MX_UNITS[facts.release.has("mxfp4_shares_of_128")]
        return -(-share // unit) * unit
    return share
