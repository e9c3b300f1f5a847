"""Whether DeepSeek-V4 fuses, in 0.27.0 and 0.28.0: it reads the checkpoint's block itself, and asks no gate."""

import functools
from typing import Any

from fse_core.vllm_plugin import plan
from fse_core.vllm_plugin.patch import Function, Patch


def _wrap(original: Function) -> Function:
    @functools.wraps(original)
    def _fuse_shared_experts_enabled(config: Any, prefix: str = "") -> Any:
        return False if plan.refused() else original(config, prefix)

    return _fuse_shared_experts_enabled


PATCH = Patch(
    name="deepseek_v4_fuse",
    module="vllm.models.deepseek_v4.amd.model",
    attribute="_fuse_shared_experts_enabled",
    since="0.27.0",
    until="0.29.0",
    known={"7570f574950d6239": "config, prefix=''"},
    wrap=_wrap,
)
