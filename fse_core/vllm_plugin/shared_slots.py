"""The slots of shared experts in one fused layer, and what goes into them."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from fse_core.loader.layer import FULL_PRECISION
from fse_core.quantize import Error, Format, formats

_MARK = "_fse_shared_slots"
_WEIGHT = ("_weight", "_weight_packed")


class Mismatch(RuntimeError):
    """A shared expert's weight that its slot cannot hold."""


class SharedSlots:
    """The last slots of a layer's fused tensors. `experts` is the release's module, `format` None: as stored."""

    def __init__(self, experts: Any, format: Format | None, *, measure: bool = False) -> None:
        self.experts = experts
        self.measure = measure
        self.errors: list[Error] = []
        self.format = format
        first = experts.moe_config.num_logical_experts
        self.ids = range(first, first + experts.expert_map_manager.num_fused_shared_experts)
        self.quantized: set[tuple[int, str]] = set()

    def forget(self) -> None:
        """Begin to count anew."""
        self.quantized.clear()
        self.errors.clear()

    def concerns(self, parameter: Tensor, weight: Tensor, name: str, expert: int) -> bool:
        """Whether this is a weight of a shared expert whose numbers are not those of its slot."""
        if expert not in self.ids or not name.endswith(_WEIGHT) or weight.dtype == parameter.dtype:
            return False
        if getattr(self.experts, "_fused_shared_expert_quantizer", None) is not None:
            return False  # the release quantizes it itself (fused_moe/routed_experts.py:740 at 0.33.0)
        return weight.is_floating_point() and not {weight.dtype, parameter.dtype} <= set(FULL_PRECISION)

    def load(
        self, original: Callable[..., Any], parameter: Tensor, weight: Tensor, name: str, shard: str, expert: int
    ) -> Any:
        """Quantize the weight and have the release load its bytes. Mismatch where that is not what was planned."""
        if self.format is None or weight.dtype not in FULL_PRECISION:
            raise Mismatch(
                f"FSE: {name} of a shared expert is {weight.dtype} and its fused slot {parameter.dtype}; vLLM would "
                "load it wrongly. Switch fusion off, or have it quantized while it loads (FSE_ONLINE_SHARED_EXPERTS)"
            )
        quantized = self.format.quantize(weight.to(parameter.device))
        if self.measure:
            self.errors.append(self.format.error(weight.to(parameter.device), quantized))
        suffix = self.format.storage(*weight.shape).scale_suffix.removeprefix("weight")
        stem = name[: name.rindex("_weight")] + "_weight"
        scales = getattr(self.experts, f"{'w2' if shard == 'w2' else 'w13'}_weight{suffix}")
        original(self.experts, scales, quantized.scale, f"{stem}{suffix}", shard, expert, True)
        self.quantized.add((expert, shard))
        return original(self.experts, parameter, quantized.payload, name, shard, expert, True)


def of(experts: Any) -> SharedSlots | None:
    """A layer's slots, None where it has none that the plugin sees to."""
    found: SharedSlots | None = experts.__dict__.get(_MARK)
    return found


def mark(experts: Any, format: str | None, *, measure: bool = False) -> SharedSlots:
    """See to a layer's slots from now on; `measure` how far what is quantized is from what it was."""
    slots = SharedSlots(experts, None if format is None else formats()[format], measure=measure)
    object.__setattr__(experts, _MARK, slots)
    return slots
