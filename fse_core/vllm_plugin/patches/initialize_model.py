"""Where a model instance is built: the plugin makes its plan before, and looks at what was built after."""

import functools
from typing import Any

from fse_core.vllm_plugin import instance, mend, plan
from fse_core.vllm_plugin.patch import Function, Patch

_PARAMETERS = "vllm_config, *, prefix='', model_class=None, model_config=None"


def _wrap(original: Function) -> Function:
    @functools.wraps(original)
    def initialize_model(vllm_config: Any, *, model_config: Any = None, **others: Any) -> Any:
        if plan.current() is not None:  # a part of a model whose plan is made
            return original(vllm_config, model_config=model_config, **others)
        made = instance.planned(vllm_config, model_config)
        if made is None:
            return original(vllm_config, model_config=model_config, **others)
        mend.leave_out(vllm_config.quant_config, made.left_out)
        with plan.active(made):
            built = original(vllm_config, model_config=model_config, **others)
        instance.attach(built, made, vllm_config)
        return built

    return initialize_model


PATCH = Patch(
    name="initialize_model",
    module="vllm.model_executor.model_loader.utils",
    attribute="initialize_model",
    since="0.24.0",
    known={"aa579f623bfb6ecb": _PARAMETERS, "f50749313ec30abd": _PARAMETERS},
    wrap=_wrap,
)
