"""Lets each distinct thing that vLLM says about fusion through once: it says them again for every layer."""

import logging
import re

from fse_core.plugged.options import FUSION

_NUMBER = re.compile(r"\b\d+\b")
_ABOUT = (
    "vllm.model_executor.layers.fused_moe.utils",
    "vllm.model_executor.models.qwen3_next",
    "vllm.models.deepseek_v4.amd.model",
    "vllm.models.minimax_m3.amd.model",
)
"""The loggers of the modules that say, layer by layer, that the variable is on and the layer not fused."""


class Once(logging.Filter):
    """Drops a warning about fusion that differs from an earlier one in numbers alone, such as the layer's."""

    def __init__(self) -> None:
        super().__init__("fse")
        self.seen: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be shown."""
        words = record.getMessage()
        if FUSION not in words:
            return True
        kind = _NUMBER.sub("#", words)
        new = kind not in self.seen
        self.seen.add(kind)
        return new


def quieten() -> None:
    """Filter the loggers, those that have no filter of ours yet."""
    for name in _ABOUT:
        logger = logging.getLogger(name)
        if not any(isinstance(present, Once) for present in logger.filters):
            logger.addFilter(Once())
