"""How a quantization block says that experts are stored, and the tensors that one projection then has."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.checkpoints import tensors
from conformance.checkpoints.tensors import Tensor

Store = Callable[[str, int, int], Iterator[Tensor]]
"""The tensors of one projection, from its name, rows and columns."""


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """`format` is the routed experts'. An `online` scheme's shared experts are in full precision."""

    format: str
    block: Mapping[str, Any]
    routed: Store
    shared: Store
    online: bool = False


def _bf16(name: str, rows: int, columns: int) -> Iterator[Tensor]:
    yield tensors.weights(f"{name}.weight", rows, columns)


def _mxfp4(name: str, rows: int, columns: int) -> Iterator[Tensor]:
    yield tensors.nibbles(f"{name}.weight", rows, columns // 2)
    yield tensors.exponents(f"{name}.weight_scale", rows, columns // 32)


def _mxfp8(name: str, rows: int, columns: int) -> Iterator[Tensor]:
    yield tensors.codes(f"{name}.weight", rows, columns)
    yield tensors.exponents(f"{name}.weight_scale", rows, columns // 32)


def _fp8_block(name: str, rows: int, columns: int) -> Iterator[Tensor]:
    yield tensors.codes(f"{name}.weight", rows, columns)
    yield tensors.scales(f"{name}.weight_scale_inv", rows // 128, columns // 128)


_GROUPS = {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0", "is_dynamic": False}
_QUARK = {
    "quant_method": "quark",
    "export": {"kv_cache_group": [], "pack_method": "reorder"},
    "exclude": ["re:.*self_attn.*", "re:.*linear_attn.*", "lm_head"],
    "global_quant_config": {
        "weight": _GROUPS,
        "input_tensors": _GROUPS | {"is_dynamic": True},
        "output_tensors": None,
        "bias": None,
    },
    "layer_quant_config": {},
    "layer_type_quant_config": {},
}
_SHARED_EXCLUDED = _QUARK | {"exclude": [*_QUARK["exclude"], "re:.*shared_expert.*"]}
_FP8_BLOCK = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
_MXFP8 = {"quant_method": "modelopt", "quant_algo": "MXFP8", "ignore": ["*self_attn*", "*linear_attn*", "lm_head"]}

OVERLAY: Mapping[str, Any] = {"targets": {"*shared_expert*": "mxfp4"}}
SCHEMES: Mapping[str, Scheme] = {
    "mxfp4_online": Scheme(format="mxfp4", block=_SHARED_EXCLUDED, routed=_mxfp4, shared=_bf16, online=True),
    "mxfp4": Scheme(format="mxfp4", block=_QUARK, routed=_mxfp4, shared=_mxfp4),
    "mxfp8": Scheme(format="mxfp8", block=_MXFP8, routed=_mxfp8, shared=_mxfp8),
    "fp8_block": Scheme(format="fp8_block", block=_FP8_BLOCK, routed=_fp8_block, shared=_fp8_block),
}
CONVERTIBLE: Mapping[str, Scheme] = {
    "mxfp4_bf16": Scheme(format="mxfp4", block=_SHARED_EXCLUDED, routed=_mxfp4, shared=_bf16),
    "mxfp8_bf16": Scheme(
        format="mxfp8", block=_MXFP8 | {"ignore": [*_MXFP8["ignore"], "*shared_expert*"]}, routed=_mxfp8, shared=_bf16
    ),
    "fp8_block_bf16": Scheme(
        format="fp8_block",
        block=_FP8_BLOCK | {"modules_to_not_convert": ["lm_head", "re:.*shared_expert.*"]},
        routed=_fp8_block,
        shared=_bf16,
    ),
}
"""What no release fuses as it is, and `fse convert` brings into the routed experts' format."""
