"""The models that are timed: one that is shipped, and made ones of any size."""

from pathlib import Path
from typing import Any

from fse_core.read.model import Model
from fse_core.read.source import model_from_dict, read_model

DEEPSEEK_R1 = Path(__file__).resolve().parent.parent / "examples" / "deepseek-ai--DeepSeek-R1-0528"


def deepseek_r1() -> Model:
    """Read anew: what a check of a file costs includes reading it."""
    return read_model(str(DEEPSEEK_R1 / "config.json"))


def many_entries(layers: int, entries: int) -> dict[str, Any]:
    """A Qwen3.5-MoE config of so many layers whose FP8 block lists so many modules, no two the same."""
    leaves = ("mlp.gate", "mlp.shared_expert.gate_proj", "mlp.shared_expert.up_proj", "mlp.shared_expert.down_proj")
    attention = (f"self_attn.module_{number}" for number in range(entries))
    names = [f"model.layers.{layer}.{leaf}" for layer in range(layers) for leaf in leaves]
    names += [f"model.layers.{number % layers}.{leaf}" for number, leaf in enumerate(attention)]
    return {
        "architectures": ["Qwen3_5MoeForCausalLM"],
        "model_type": "qwen3_5_moe_text",
        "num_hidden_layers": layers,
        "num_experts": 512,
        "num_experts_per_tok": 10,
        "moe_intermediate_size": 2048,
        "shared_expert_intermediate_size": 2048,
        "hidden_size": 8192,
        "quantization_config": {
            "quant_method": "fp8",
            "activation_scheme": "dynamic",
            "weight_block_size": [128, 128],
            "modules_to_not_convert": names[:entries],
        },
    }


def quark_entries(layers: int, entries: int) -> dict[str, Any]:
    """A DeepSeek-V3 config whose Quark block excludes so many modules, one in ten of them as a regular expression."""
    names = [
        f"re:model\\.layers\\.{number % layers}\\.self_attn\\.m{number}_proj"
        if number % 10 == 0
        else f"model.layers.{number % layers}.self_attn.m{number}_proj"
        for number in range(entries)
    ]
    tensor = {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0", "ch_axis": -1}
    return {
        "architectures": ["DeepseekV3ForCausalLM"],
        "model_type": "deepseek_v3",
        "num_hidden_layers": layers,
        "first_k_dense_replace": 0,
        "n_routed_experts": 256,
        "n_shared_experts": 1,
        "quantization_config": {
            "quant_method": "quark",
            "export": {"kv_cache_group": [], "pack_method": "reorder"},
            "global_quant_config": {
                "weight": {**tensor, "is_dynamic": False},
                "input_tensors": {**tensor, "is_dynamic": True},
            },
            "layer_quant_config": {},
            "layer_type_quant_config": {},
            "exclude": names,
        },
    }


def model(config: dict[str, Any]) -> Model:
    """The facts of a made config, held to the bounds that a file's are held to."""
    return model_from_dict(config)
