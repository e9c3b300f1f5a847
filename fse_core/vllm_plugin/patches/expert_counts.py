"""How many slots a layer's experts get for shared ones, from 0.25.0 to 0.28.0: the variable alone decides.

Most classes name no shared experts where they do not fuse. Hunyuan-V3's always names them.
"""

import functools
from typing import Any

from fse_core.vllm_plugin import plan
from fse_core.vllm_plugin.patch import Function, Patch


def _wrap(original: Function) -> Function:
    @functools.wraps(original)
    def determine_expert_counts(*args: Any, **kwargs: Any) -> Any:
        experts, logical, slots = original(*args, **kwargs)
        return experts, logical, 0 if plan.refused() else slots

    return determine_expert_counts


PATCH = Patch(
    name="expert_counts",
    module="vllm.model_executor.layers.fused_moe.layer",
    attribute="determine_expert_counts",
    since="0.25.0",
    until="0.29.0",
    known={"bae14aa154a9413f": "num_experts, num_redundant_experts, n_shared_experts, is_act_and_mul"},
    wrap=_wrap,
)
