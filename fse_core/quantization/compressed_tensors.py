"""CompressedTensorsConfig: checkpoints of llm-compressor and others."""

from dataclasses import dataclass
from typing import ClassVar

from fse_core.quantization.base import Quantization


@dataclass(frozen=True, kw_only=True)
class CompressedTensors(Quantization):
    """It has no branch in the gate.

    Source: model_executor/layers/quantization/compressed_tensors/compressed_tensors.py:90 at 0.33.0.
    """

    class_name: ClassVar[str] = "CompressedTensorsConfig"


CLASS = CompressedTensors
