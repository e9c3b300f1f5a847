"""Small model configs, written from facts, that tests build on."""

from typing import Any

from fse_core import Report, Target, check
from fse_core.read.source import model_from_dict

DEEPSEEK: dict[str, Any] = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "num_hidden_layers": 5,
    "first_k_dense_replace": 3,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "num_nextn_predict_layers": 1,
    "hidden_size": 256,
    "moe_intermediate_size": 256,
}
"""Two MoE layers, 3 and 4, and one draft layer, 5."""

FP8_BLOCK: dict[str, Any] = {
    "quant_method": "fp8",
    "activation_scheme": "dynamic",
    "weight_block_size": [128, 128],
}

MXFP4_WEIGHT = {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0", "is_dynamic": False}
MXFP4: dict[str, Any] = {
    "weight": MXFP4_WEIGHT,
    "input_tensors": {**MXFP4_WEIGHT, "is_dynamic": True},
    "output_tensors": None,
    "bias": None,
}
FP8_TENSOR: dict[str, Any] = {
    "weight": {"dtype": "fp8_e4m3", "qscheme": "per_tensor", "is_dynamic": False, "symmetric": True},
    "input_tensors": {"dtype": "fp8_e4m3", "qscheme": "per_tensor", "is_dynamic": False, "symmetric": True},
}
QUARK_MXFP4: dict[str, Any] = {
    "quant_method": "quark",
    "export": {"kv_cache_group": [], "pack_method": "reorder"},
    "exclude": [],
    "global_quant_config": MXFP4,
    "layer_quant_config": {},
    "layer_type_quant_config": {},
}
MXFP8: dict[str, Any] = {"quant_method": "modelopt", "quant_algo": "MXFP8", "ignore": []}

SHARED = "model.layers.3.mlp.shared_experts"
EXPERTS = "model.layers.3.mlp.experts"


def asked(quantization: dict[str, Any] | None, config: dict[str, Any] = DEEPSEEK, **target: Any) -> Report:
    """The report for `config` with this quantization block."""
    block = {} if quantization is None else {"quantization_config": quantization}
    return check(model_from_dict({**config, **block}), Target(**target))


def first_words(report: Report) -> str | None:
    """What the first layer's decision says: `fused`, a reason, or an error as `Type: message`."""
    decision = report.layers[0].decision
    if decision.error is not None:
        return f"{decision.error.type}: {decision.error.message}"
    return decision.reason or decision.decision
