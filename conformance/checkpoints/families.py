"""More families than those whose loading is compared byte for byte: their classes have loaders of their own."""

from collections.abc import Mapping
from dataclasses import replace

from conformance.checkpoints.tiny import FAMILIES as COMPARED
from conformance.checkpoints.tiny import Family

FAMILIES: Mapping[str, Family] = {
    **COMPARED,
    "axk1": replace(COMPARED["deepseek"], seed="axk1"),
    "deepseek_v32": replace(COMPARED["deepseek"], seed="deepseek_v32"),
    "glm_lite": replace(COMPARED["deepseek"], seed="glm4_moe_lite"),
    "qwen3_next": replace(COMPARED["qwen"], seed="qwen3_next"),
}
