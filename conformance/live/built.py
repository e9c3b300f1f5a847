"""What a built model holds: experts outside the release's own container, flags, and separate shared experts."""

from typing import Any

SHARED = frozenset({"shared_expert", "shared_experts", "shared_mlp", "share_expert"})


def container() -> Any:
    """The release's own class for the routed experts of a layer."""
    try:
        from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts
    except ImportError:
        from vllm.model_executor.layers.fused_moe.layer import FusedMoE

        return FusedMoE
    return RoutedExperts


def other_experts(model: Any, part: str) -> list[dict[str, Any]]:
    """Expert modules that are no RoutedExperts (a mega-MoE backend's own), known by their stacked weights."""
    usual = container()
    rows = []
    for name, module in model.named_modules():
        own = (key for key, _ in module.named_parameters(recurse=False))
        if isinstance(module, usual) or not any(key.startswith("w13") for key in own):
            continue
        slots = int(getattr(module, "fuse_shared_expert", False))
        rows.append(
            {
                "part": part,
                "module": getattr(module, "prefix", name),
                "slots": slots,
                "method": type(module).__name__,
            }
        )
    return rows


def enabled(model: Any) -> list[bool]:
    """The different values of the flag by which the release's modules say that fusion is on."""
    flag = "is_fused_shared_expert_enabled"
    return sorted({bool(getattr(module, flag)) for module in model.modules() if hasattr(module, flag)})


def separate(model: Any, part: str) -> list[dict[str, str]]:
    """Shared experts that were built as modules of their own, and the prefix of the routed experts beside them."""
    rows: dict[int, dict[str, str]] = {}
    for name, module in model.named_modules():
        if name.rpartition(".")[2] in SHARED:
            experts = routed_beside(model.get_submodule(name.rpartition(".")[0]))
            if experts is not None:
                rows[id(module)] = {"part": part, "module": name, "experts": experts}
    return list(rows.values())


def routed_beside(parent: Any) -> str | None:
    """The prefix of the routed experts somewhere in `parent`, None where it has none."""
    for name, module in parent.named_modules():
        if any(key.startswith("w13") for key, _ in module.named_parameters(recurse=False)):
            return str(getattr(module, "layer_name", None) or getattr(module, "prefix", name))
    return None
