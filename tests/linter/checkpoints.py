"""Small checkpoints whose configs say something wrong."""

import json
from pathlib import Path
from typing import Any

from tests.models import DEEPSEEK, FP8_BLOCK, QUARK_MXFP4
from tests.rules.cases import shared

PARENTS = [f"model.layers.{layer}.mlp.shared_experts" for layer in (3, 4, 5)]
NOT_HEARD: dict[str, Any] = {
    **DEEPSEEK,
    "rms_norm_eps": 1e-06,
    "quantization_config": {**FP8_BLOCK, "ignored_layers": ["lm_head", *PARENTS]},
}
"""The list names modules, which the gate does not take: it fuses what is stored in 16 bits. Layers 3, 4, draft 5."""

FAILS: dict[str, Any] = {**DEEPSEEK, "quantization_config": {**FP8_BLOCK, "ignored_layers": shared(4)}}
"""One layer unlike another: the release does not start."""

HOPELESS: dict[str, Any] = {**DEEPSEEK, "quantization_config": {**QUARK_MXFP4, "global_quant_config": None}}
"""There is no scheme, and nobody but who quantized it knows it: the release does not start."""

APART: dict[str, Any] = {**DEEPSEEK, "quantization_config": {**QUARK_MXFP4, "exclude": shared(3, 4, 5)}}
"""Shared experts in 16 bits beside MXFP4 ones, and the list is heard."""

SOUND: dict[str, Any] = {**DEEPSEEK, "quantization_config": FP8_BLOCK}
UNKNOWN: dict[str, Any] = {"architectures": ["NobodyKnowsForCausalLM"], "num_hidden_layers": 2}


def written(folder: Path, config: dict[str, Any]) -> Path:
    """The config in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "config.json"
    file.write_text(json.dumps(config, indent=2))
    return file
