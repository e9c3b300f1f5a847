"""The gate, since 0.29.0: may the shared experts of one layer become slots of its routed ones?

It says no where the plugin knows that loading would break, and yes where the shared experts are quantized while they
load, or where the operator accepts a kind of checkpoint that it refuses. All else is its own answer.
"""

import functools
from typing import Any

from fse_core.vllm_plugin import plan
from fse_core.vllm_plugin.patch import Function, Patch

_UNTIL_0_33 = "quant_config, expert_prefix, shared_expert_prefix, projection_names=None"


def _wrap(original: Function) -> Function:
    @functools.wraps(original)
    def is_shared_expert_quant_fse_compatible(
        quant_config: Any, expert_prefix: str, shared_expert_prefix: str, *args: Any, **kwargs: Any
    ) -> Any:
        now = plan.current()
        if now is None or shared_expert_prefix not in now.experts:
            return original(quant_config, expert_prefix, shared_expert_prefix, *args, **kwargs)
        if now.refused is not None:
            return False, now.refused
        if now.online is not None or now.accepted is not None:
            return True, None
        answer = original(quant_config, expert_prefix, shared_expert_prefix, *args, **kwargs)
        if not answer[0]:
            now.reasons.append(answer[1])
        return answer

    return is_shared_expert_quant_fse_compatible


PATCH = Patch(
    name="gate",
    module="vllm.model_executor.layers.quantization.utils.config_utils",
    attribute="is_shared_expert_quant_fse_compatible",
    since="0.29.0",
    known={
        "bedf4e774bdc3e88": _UNTIL_0_33,
        "6e976cce40a4b584": _UNTIL_0_33,
        "841ac706a4be1de1": _UNTIL_0_33,
        "260b4e520a8244c6": f"{_UNTIL_0_33}, moe_backend=None",
    },
    wrap=_wrap,
)
