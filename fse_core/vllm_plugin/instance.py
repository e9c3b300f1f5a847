"""Before a model is built: its plan. After: its slots are seen to, its loading is scoped, and the summary is said."""

import functools
import importlib
from collections.abc import Iterable, Iterator
from typing import Any

from fse_core.plugged.options import read
from fse_core.plugged.plan import Plan
from fse_core.vllm_plugin import judge, log, patches, plan, subject, summary
from fse_core.vllm_plugin.installed import HERE

LOADER = "expert_weight_loader"
DECIDES = ("gate", "aiter_fusion_enabled")
"""The patches that can refuse: a release has one of them."""

_KEY = "fse"


def planned(vllm_config: Any, model_config: Any) -> Plan | None:
    """The plan for this model; None where there is none, for whatever reason. Never raises."""
    import os

    try:
        _look_at_functions()
        if not any(HERE.active(name) for name in DECIDES):
            return None  # what the release asks is not known, and a line has said so
        found = subject.of(vllm_config, model_config)
        if found is None:
            return None
        return judge.plan(found, read(os.environ), can_quantize=HERE.active(LOADER))
    except Exception as error:  # vLLM can do without the plugin
        log.line("not judged, so that vLLM decides alone: %s: %s", type(error).__name__, error)
        return None


def _look_at_functions() -> None:
    """Import what is about to be imported anyway, so that its functions are known, or known to be unknown."""
    for patch in patches.known():
        if patch.name in (LOADER, *DECIDES) and patch.name in HERE.states:
            importlib.import_module(patch.module)


def attach(model: Any, made: Plan, vllm_config: Any) -> None:
    """See to the slots of what was built, and let the plan hold while it is loaded."""
    from fse_core.vllm_plugin import shared_slots

    fused = [shared_slots.mark(experts, made.online, measure=made.lossy) for experts in summary.fused_experts(model)]
    key_apart(vllm_config, made)
    summary.built(model, made)
    load = model.load_weights

    @functools.wraps(load)
    def load_weights(weights: Iterable[tuple[str, Any]], *others: Any, **more: Any) -> Any:
        for slots in fused:
            slots.forget()
        with plan.active(made):
            loaded = load(_renamed(weights, made), *others, **more)
        summary.loaded(made, fused)
        return loaded

    model.load_weights = load_weights


def key_apart(vllm_config: Any, made: Plan) -> None:
    """Let vLLM's key for compiled graphs tell this plan from others, and from none (config/vllm.py:560 at 0.33.0)."""
    from fse_core.version import __version__

    if isinstance(vllm_config.additional_config, dict):
        vllm_config.additional_config[_KEY] = f"{__version__} {made.key}"


def _renamed(weights: Iterable[tuple[str, Any]], made: Plan) -> Iterable[tuple[str, Any]]:
    """What the slots can take: FP8 in full precision; and where weights are packed, full precision by that name."""
    if made.lossy:
        from fse_core.vllm_plugin.widen import widened

        return widened(weights)
    return _as_packed(weights) if made.packed and made.online else weights


def _as_packed(weights: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    for name, tensor in weights:
        shared = ".shared_expert" in name and name.endswith("_proj.weight")
        yield (f"{name}_packed" if shared else name), tensor
