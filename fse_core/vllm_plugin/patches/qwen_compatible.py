"""What Qwen's classes ask before the gate was there (0.25.0 to 0.28.0): does Quark leave the shared expert out?

An exclude list that names the shared expert is no obstacle where it is quantized while it loads.
"""

import functools
from typing import Any

from fse_core.vllm_plugin import plan
from fse_core.vllm_plugin.patch import Function, Patch


def _wrap(original: Function) -> Function:
    @functools.wraps(original)
    def _is_shared_expert_fse_compatible(quant_config: Any) -> Any:
        now = plan.current()
        if now is not None and now.refused is None and now.online is not None:
            return True
        return original(quant_config)

    return _is_shared_expert_fse_compatible


PATCH = Patch(
    name="qwen_compatible",
    module="vllm.model_executor.models.qwen3_next",
    attribute="_is_shared_expert_fse_compatible",
    since="0.25.0",
    until="0.29.0",
    known={"91a6f171b10b2e6c": "quant_config"},
    wrap=_wrap,
)
