"""The dtype of DeepSeek-V4's routed experts, which its config class knows apart from the quantization block."""

from typing import Any

from fse_core.read.model import CONFIG_FILE, Model


def is_v41(model: Model) -> bool:
    """Whether V4.1's config class reads the config: it lays the text config flat, the file's own top level over it."""
    return (model.model_type or "").startswith("deepseek_v41")


def expert_dtype(model: Model) -> Any:
    """As the config states it; V4.1's class looks into the block where no config does; FP4 where nothing says.

    Source: models/deepseek_v4/quant_config.py:98 and transformers_utils/configs/deepseek_v41.py:49 at 0.33.0.
    """
    for config in (model.config, model.text) if is_v41(model) else (model.config,):
        if "expert_dtype" in config:
            return config.get("expert_dtype")
    block = model.quantization
    seen = block is not None and block.file == CONFIG_FILE and not block.compression
    return block.fields.raw.get("expert_dtype", "fp4") if block is not None and seen and is_v41(model) else "fp4"
