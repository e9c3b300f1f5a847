"""Quantization blocks as exporters write them, by a name of ours."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

_NOT_EXPERTS = ("self_attn", "linear_attn")
_FP4 = {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0", "is_dynamic": False}
_FP8_TENSOR = {"dtype": "fp8_e4m3", "qscheme": "per_tensor", "is_dynamic": False, "symmetric": True}
_FP8_ROWS = {"dtype": "fp8_e4m3", "qscheme": "per_channel", "ch_axis": 0, "is_dynamic": False, "symmetric": True}


def scheme(weight: Mapping[str, Any], activation: Mapping[str, Any]) -> dict[str, Any]:
    """One scheme of Quark's."""
    return {"weight": dict(weight), "input_tensors": dict(activation), "output_tensors": None, "bias": None}


SCHEMES = {
    "mxfp4": scheme(_FP4, _FP4 | {"is_dynamic": True}),
    "tensor": scheme(_FP8_TENSOR, _FP8_TENSOR | {"is_dynamic": True}),
    "static": scheme(_FP8_TENSOR, _FP8_TENSOR),
    "rows": scheme(_FP8_ROWS, _FP8_ROWS | {"ch_axis": 1, "is_dynamic": True}),
}


def _quark(name: str) -> dict[str, Any]:
    return {
        "quant_method": "quark",
        "export": {"kv_cache_group": [], "pack_method": "reorder"},
        "exclude": [*(f"re:.*{module}.*" for module in _NOT_EXPERTS), "lm_head"],
        "global_quant_config": SCHEMES[name],
        "layer_quant_config": {},
        "layer_type_quant_config": {},
    }


def _fp8(activation: str = "dynamic", **more: Any) -> dict[str, Any]:
    return {"quant_method": "fp8", "activation_scheme": activation, **more}


def _modelopt(algorithm: str, **more: Any) -> dict[str, Any]:
    ignored = [*(f"*{module}*" for module in _NOT_EXPERTS), "lm_head"]
    return {"quant_method": "modelopt", "quant_algo": algorithm, "ignore": ignored, **more}


def _compressed(strategy: str, **more: Any) -> dict[str, Any]:
    weights = {"num_bits": 8, "type": "float", "strategy": strategy, "symmetric": True, "dynamic": False, **more}
    inputs = {"num_bits": 8, "type": "float", "strategy": "token", "symmetric": True, "dynamic": True}
    return {
        "quant_method": "compressed-tensors",
        "format": "float-quantized",
        "ignore": [*(f"re:.*{module}.*" for module in _NOT_EXPERTS), "lm_head"],
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": inputs}},
    }


BLOCKS: Mapping[str, Mapping[str, Any]] = {
    "fp8_blocks": _fp8(weight_block_size=[128, 128]),
    "fp8_tensor": _fp8(),
    "fp8_static": _fp8("static"),
    "quark_mxfp4": _quark("mxfp4"),
    "quark_tensor": _quark("tensor"),
    "quark_static": _quark("static"),
    "quark_rows": _quark("rows"),
    "modelopt_mxfp8": _modelopt("MXFP8"),
    "modelopt_tensor": _modelopt("FP8"),
    "modelopt_nvfp4": _modelopt("NVFP4", group_size=16),
    "compressed_rows": _compressed("channel"),
}
_LISTS = {"fp8": "modules_to_not_convert", "quark": "exclude"}


def block(name: str, left_out: Iterable[str], schemes: Mapping[str, str]) -> dict[str, Any]:
    """A block of one's own: modules that are not quantized, and those that have another scheme (Quark's alone)."""
    made = copy.deepcopy(dict(BLOCKS[name]))
    made.setdefault(_LISTS.get(made["quant_method"], "ignore"), []).extend(left_out)
    for module, other in schemes.items():
        made["layer_quant_config"][module] = copy.deepcopy(SCHEMES[other])
    return made
