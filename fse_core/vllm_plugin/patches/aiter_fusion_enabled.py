"""Whether AITER's fusion is on: until 0.28.0 that alone decides, in constructors and in loaders.

While a model that must not be fused is built or loaded, the answer is no. Otherwise it is the release's own: the
forward pass of another model, such as a draft, asks too.
"""

import functools
from typing import Any

from fse_core.vllm_plugin import plan
from fse_core.vllm_plugin.patch import Function, Patch


def _wrap(original: Function) -> Function:
    @functools.wraps(original)
    def is_fusion_moe_shared_experts_enabled(cls: Any) -> Any:
        return False if plan.refused() else original(cls)

    return is_fusion_moe_shared_experts_enabled


PATCH = Patch(
    name="aiter_fusion_enabled",
    module="vllm._aiter_ops",
    attribute="rocm_aiter_ops.is_fusion_moe_shared_experts_enabled",
    since="0.24.0",
    until="0.29.0",
    known={"ef36577f3b27f11c": "cls"},
    wrap=_wrap,
)
