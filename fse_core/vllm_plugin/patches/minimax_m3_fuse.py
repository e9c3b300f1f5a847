"""Whether MiniMax-M3 fuses, from 0.25.0 to 0.28.0: it looks at the variable alone, and asks no gate."""

import functools
from typing import Any

from fse_core.vllm_plugin import plan
from fse_core.vllm_plugin.patch import Function, Patch


def _wrap(original: Function) -> Function:
    @functools.wraps(original)
    def _fuse_shared_experts_enabled(config: Any) -> Any:
        return False if plan.refused() else original(config)

    return _fuse_shared_experts_enabled


PATCH = Patch(
    name="minimax_m3_fuse",
    module="vllm.models.minimax_m3.amd.model",
    attribute="_fuse_shared_experts_enabled",
    since="0.25.0",
    until="0.29.0",
    known={"810bde5b2ea8abba": "config"},
    wrap=_wrap,
)
