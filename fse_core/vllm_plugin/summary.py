"""The few lines that say what became of a model's layers: one when it is built, one when it was quantized."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fse_core.plugged.plan import Plan
from fse_core.vllm_plugin import log

if TYPE_CHECKING:
    from fse_core.vllm_plugin.shared_slots import SharedSlots

_PROJECTIONS = {"w2": "down_proj", "w1": "gate_up_proj", "w3": "gate_up_proj"}


def experts(model: Any) -> list[Any]:
    """The release's modules that hold fused tensors of experts."""
    from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

    return [module for module in model.modules() if isinstance(module, RoutedExperts)]


def fused_experts(model: Any) -> list[Any]:
    """Those of them that have slots for shared experts."""
    return [module for module in experts(model) if module.expert_map_manager.num_fused_shared_experts > 0]


def built(model: Any, made: Plan) -> None:
    """`FSE: 58 of 58 MoE layers fused`, or `FSE: 0 of 58 MoE layers fused: ...`, on the first rank alone."""
    layers = [one for one in experts(model) if _planned(one, made)]
    fused = [one for one in layers if one.expert_map_manager.num_fused_shared_experts > 0]
    if not layers or not _first_rank():
        return
    if fused:
        extra = f", shared experts quantized to {made.online} while loading ({made.asked})" if made.online else ""
        extra += f", {made.accepted} accepted, which is untested on hardware" if made.accepted else ""
        log.info("%d of %d MoE layers fused%s", len(fused), len(layers), extra)
        return
    reason = made.refused or next(iter(made.reasons), "the release gives no reason")
    log.line("0 of %d MoE layers fused: %s", len(layers), reason)


def loaded(made: Plan, fused: Sequence["SharedSlots"]) -> None:
    """What was quantized, in the words that the release has for it (model_loader/base_loader.py:152 at 0.32.0)."""
    counts: Counter[str] = Counter()
    for slots in fused:
        name = _below(next(shared for shared, experts in made.experts.items() if _is(slots.experts, experts)))
        counts.update(f"{name}.{projection}" for projection in {_PROJECTIONS[shard] for _, shard in slots.quantized})
    if counts and _first_rank():
        parts = "; ".join(f"{kind}: {count} (from {made.asked})" for kind, count in sorted(counts.items()))
        log.info("Quantized %d layers of types: %s", counts.total(), parts)
        errors = [error for slots in fused for error in slots.errors]
        if errors:
            mean = sum(error.relative_mse for error in errors) / len(errors)
            largest = max(error.largest for error in errors)
            log.line("requantized from FP8: relative mean square error %.4g, largest difference %.4g", mean, largest)


def _planned(module: Any, made: Plan) -> bool:
    return any(_is(module, experts) for experts in made.experts.values())


def _is(module: Any, prefix: str) -> bool:
    """Whether the release's module is the one of these experts; some releases have a module in the module."""
    return bool(f"{module.layer_name}.".startswith(f"{prefix}."))


def _below(prefix: str) -> str:
    """What stands behind the layer's number: `mlp.shared_experts`."""
    names = prefix.split(".")
    last = max((index for index, name in enumerate(names) if name.isdecimal()), default=-1)
    return ".".join(names[last + 1 :])


def _first_rank() -> bool:
    from vllm.distributed import get_tensor_model_parallel_rank

    return bool(get_tensor_model_parallel_rank() == 0)
