"""What loads one tensor of one expert into the fused tensors.

For the slots of shared experts that are to be quantized, a full-precision weight is quantized as it arrives, whole, and
its bytes and scales are then loaded as if they had been in the checkpoint: the release cuts them for this rank. A slot
that is not to be quantized takes no weight of another kind of number: stock releases cast it without a word.
"""

import functools
from typing import Any

from fse_core.vllm_plugin import shared_slots
from fse_core.vllm_plugin.patch import Function, Patch

_PARAMETERS = "self, param, loaded_weight, weight_name, shard_id, expert_id, return_success=False"
_KNOWN = (
    "9f22cbbdf621be7f",
    "a711296f586d0e6a",
    "9e0a6fecf3901921",
    "f19237381e5fc57d",
    "fb11d5423bd0698b",
    "87d545f5b11118b0",
    "99152fd0b7938e6d",
    "461907b493e3d812",
)


def _wrap(original: Function) -> Function:
    @functools.wraps(original)
    def weight_loader(
        self: Any,
        param: Any,
        loaded_weight: Any,
        weight_name: str,
        shard_id: str,
        expert_id: int,
        return_success: bool = False,
    ) -> Any:
        slots = shared_slots.of(self)
        if slots is not None and slots.concerns(param, loaded_weight, weight_name, expert_id):
            loaded = slots.load(original, param, loaded_weight, weight_name, shard_id, expert_id)
            return loaded if return_success else None
        return original(self, param, loaded_weight, weight_name, shard_id, expert_id, return_success)

    return weight_loader


PATCH = Patch(
    name="expert_weight_loader",
    module="vllm.model_executor.layers.fused_moe.routed_experts",
    attribute="RoutedExperts.weight_loader",
    since="0.24.0",
    known=dict.fromkeys(_KNOWN, _PARAMETERS),
    wrap=_wrap,
)
