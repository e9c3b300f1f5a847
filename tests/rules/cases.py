"""What the tests of the rules share: blocks as real checkpoints have them, and what a report says of one rule."""

from typing import Any

from fse_core import Report
from fse_core.report import Finding
from tests.models import DEEPSEEK, MXFP4

LEAVES = ("gate_proj", "up_proj", "down_proj")

QWEN3_NEXT: dict[str, Any] = {
    "architectures": ["Qwen3NextForCausalLM"],
    "model_type": "qwen3_next",
    "num_hidden_layers": 4,
    "num_experts": 8,
    "hidden_size": 2048,
    "moe_intermediate_size": 512,
    "shared_expert_intermediate_size": 512,
}
QWEN3_5: dict[str, Any] = {
    **QWEN3_NEXT,
    "architectures": ["Qwen3_5MoeForCausalLM"],
    "model_type": "qwen3_5_moe_text",
    "hidden_size": 4096,
    "num_experts": 512,
    "num_experts_per_tok": 10,
    "moe_intermediate_size": 1024,
    "shared_expert_intermediate_size": 1024,
}
R1 = {**DEEPSEEK, "hidden_size": 7168, "n_routed_experts": 256, "moe_intermediate_size": 2048, "num_experts_per_tok": 8}
GLM_4_7: dict[str, Any] = {
    **DEEPSEEK,
    "architectures": ["Glm4MoeForCausalLM"],
    "model_type": "glm4_moe",
}
GLM_4_7_FLASH: dict[str, Any] = {
    **DEEPSEEK,
    "architectures": ["Glm4MoeLiteForCausalLM"],
    "model_type": "glm4_moe_lite",
    "first_k_dense_replace": 1,
}

FP8_ROWS: dict[str, Any] = {
    "weight": {"dtype": "fp8_e4m3", "qscheme": "per_channel", "ch_axis": 0, "is_dynamic": False, "symmetric": True},
    "input_tensors": {"dtype": "fp8_e4m3", "qscheme": "per_channel", "ch_axis": 1, "is_dynamic": True},
}
NVFP4: dict[str, Any] = {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16, "ignore": ["lm_head"]}
AWQ: dict[str, Any] = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}
GPTQ: dict[str, Any] = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True}


def compressed(weights: dict[str, Any], layout: str, *ignore: str) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": None}
    return {
        "quant_method": "compressed-tensors",
        "format": layout,
        "ignore": ["lm_head", *ignore],
        "config_groups": {"group_0": group},
    }


INT4 = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32}
FP8_BY_ROW = {"num_bits": 8, "type": "float", "strategy": "channel"}


def shared(*layers: int, name: str = "shared_experts") -> list[str]:
    """The names of the shared expert's three projections in each of the layers."""
    return [f"model.layers.{layer}.mlp.{name}.{leaf}" for layer in layers for leaf in LEAVES]


def schemes(config: dict[str, Any], *layers: int) -> dict[str, Any]:
    """The same scheme for each projection of these layers' shared experts."""
    return {name: {**MXFP4, **config} for name in shared(*layers)}


def of(report: Report, rule: str, part: str = "target") -> list[Finding]:
    """What the rule says about that part."""
    return [finding for finding in report.findings if finding.rule == rule and finding.part in (part, None)]


def only(report: Report, rule: str) -> Finding:
    """The one thing that the rule says about the target."""
    (finding,) = of(report, rule)
    return finding
