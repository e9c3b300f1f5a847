"""How DeepSeek-V4's MoE class decides: the ordinary fusion, the heterogeneous one, and AITER's MegaMoE.

Source: models/deepseek_v4/amd/model.py:225,527,552,585 at 0.33.0.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fse_core import request
from fse_core.families.base import Part
from fse_core.names import Packed
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.report import Failure
from fse_core.target import Target

W1_W3: Packed = {"gate_up_proj": ("w1", "w3")}

MEGA = "aiter_mega_moe"

_NO_CONFIG = Failure(type="AssertionError", message="")

_FUSION = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"
_AITER = ("VLLM_ROCM_USE_AITER", "VLLM_ROCM_USE_AITER_MOE")

_WITH_DP = (
    "DeepSeek-V4 fused shared experts (VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS=1) are not supported with data "
    "parallelism (data_parallel_size > 1). Set VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS=0 to run the shared expert "
    "as an unfused FP8 MLP."
)

_HETEROGENEOUS_MODEL = {
    "n_routed_experts": 384,
    "num_experts_per_tok": 6,
    "n_shared_experts": 1,
    "hidden_size": 7168,
    "moe_intermediate_size": 3072,
    "hidden_act": "silu",
    "expert_dtype": "fp4",
    "topk_method": "noaux_tc",
}
"""The only shape that AITER's heterogeneous kernels are made for."""

_CLASS_VALUES = {
    "n_routed_experts": 256,
    "num_experts_per_tok": 6,
    "n_shared_experts": 1,
    "hidden_size": 4096,
    "moe_intermediate_size": 2048,
    "hidden_act": "silu",
}


def heterogeneous(model: Model, target: Target, release: Release) -> bool:
    """Whether native FP8 shared experts run beside MXFP4 routed ones in one launch.

    That AITER itself has the kernels is taken for granted: it has on the one GPU that passes.
    """
    ready = release.has("deepseek_v4_heterogeneous") and target.is_on(*_AITER, _FUSION)
    return ready and is_heterogeneous_model(model) and not any(unmet(target))


def is_heterogeneous_model(model: Model) -> bool:
    """Whether the model itself is the one shape and format that the kernels are made for."""
    config = model.config
    return (
        _is_bf16(config)
        and all(config.raw.get(key, _CLASS_VALUES.get(key)) == is_ for key, is_ in _HETEROGENEOUS_MODEL.items())
        and _is_native_fp8(model)
    )


def unmet(target: Target) -> Iterator[tuple[str, str, object]]:
    """What the mode demands of the target and does not find: the option, and what it is and should be."""
    demands = {"gfx": "gfx950", "tp": 8, "dp": 1, "pcp": 1, "ep": False, "eplb": False, "moe_backend": "aiter"}
    for option, wanted in demands.items():
        if getattr(target, option) != wanted:
            yield option, str(getattr(target, option)), wanted


def _is_bf16(config: Fields) -> bool:
    """Any dtype but FP16 is served as BF16 unless the user says otherwise."""
    dtype = config.get("dtype") or config.get("torch_dtype")
    return dtype not in ("float16", "half")


def _is_native_fp8(model: Model) -> bool:
    """Whether the block is DeepSeek-V4's own, with 128 by 128 blocks, routed MXFP4, and nothing left out."""
    block = model.quantization
    if block is None or model.model_type != "deepseek_v4":
        return False
    fields = block.fields
    return (
        fields.get("quant_method") in ("fp8", "deepseek_v4_fp8")
        and fields.get("weight_block_size") == [128, 128]
        and str(fields.get("moe_quant_algo") or "").upper() != "NVFP4"
        and not fields.get("ignored_layers")
        and not fields.get("modules_to_not_convert")
    )


def _mega_failure(expert_dtype: Any, target: Target) -> Failure | None:
    """What MegaMoE's own check raises, once the class has decided about a layer."""
    if not target.is_on(*_AITER) or target.gfx not in ("gfx942", "gfx950", "gfx1250"):
        return Failure(
            type="ValueError",
            message="--moe-backend aiter_mega_moe requires VLLM_ROCM_USE_AITER=1  and VLLM_ROCM_USE_AITER_MOE=1.",
        )
    if target.gfx != "gfx950":
        return Failure(type="NotImplementedError", message="AITER MegaMoE requires gfx950.")
    if not target.ep or target.tp != 1 or target.pp != 1:
        return Failure(
            type="NotImplementedError",
            message="AITER MegaMoE requires data parallel attention with expert parallel MoE: --data-parallel-size N "
            "--enable-expert-parallel with TP=1 and PP=1.",
        )
    if target.all2all_backend not in ("mori_high_throughput", "mori_low_latency"):
        return Failure(
            type="ValueError",
            message="AITER MegaMoE runs on MoRI shmem; add --all2all-backend mori_high_throughput.",
        )
    if target.eplb:
        return Failure(type="NotImplementedError", message="AITER MegaMoE does not support EPLB.")
    if expert_dtype != "fp4":
        return Failure(type="NotImplementedError", message="AITER MegaMoE only supports fp4 experts.")
    return None


def _mega(part: Part, model: Model, expert_dtype: Any, target: Target, release: Release) -> Part:
    unquantized = model.quantization is None and target.overlay is None
    by_variable = release.has("deepseek_v4_mega_moe_by_variable")
    # Where AITER is off the backend's own question is not put, and the ordinary one, if it was, is the last.
    asks_itself = request.refusal("aiter", target, release) is None
    # Only a single shared expert is asked about for this backend; otherwise the class's first question is its last.
    if part.layers and part.layers[0].slots == 1:
        if not by_variable and asks_itself:
            part = replace(part, asks=True, request="aiter", mode="mega_moe", backend=MEGA)
        elif by_variable and target.ep:  # models/deepseek_v4/amd/model.py:696 at 0.32.0
            part = replace(part, asks=True, request="mega_moe", mode="mega_moe", always=True)
    return replace(
        part,
        one_answer=False,
        # These experts are no MoE runner, so that they never come to MoRI's own check.
        gated=False,
        # The gate lets an unquantized model pass, the class then demands a quantization config.
        on_fused=_NO_CONFIG if asks_itself and unquantized and not by_variable else None,
        on_layer=_mega_failure(expert_dtype, target),
    )


def decided(part: Part, model: Model, expert_dtype: Any, target: Target, release: Release) -> Part:
    """`part` with the way its layers decide at `target`. `expert_dtype` is what the class's config says it is."""
    refuses_dp = release.has("deepseek_v4_refuses_dp") and bool(part.layers)
    with_dp = refuses_dp and target.is_on(_FUSION) and not target.ep and target.dp > 1
    part = replace(
        part,
        asks=not target.ep,
        request="environment",
        startup=Failure(type="ValueError", message=_WITH_DP) if with_dp else part.startup,
    )
    return _mega(part, model, expert_dtype, target, release) if target.moe_backend == MEGA else part
