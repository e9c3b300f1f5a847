"""TorchAOConfig: checkpoints of torchao, which vLLM reads with that package."""

from dataclasses import dataclass
from typing import ClassVar

from fse_core.quantization.base import Quantization


@dataclass(frozen=True, kw_only=True)
class TorchAo(Quantization):
    """Source: model_executor/layers/quantization/torchao.py:171 at 0.33.0. It has no branch in the gate."""

    class_name: ClassVar[str] = "TorchAOConfig"


CLASS = TorchAo
