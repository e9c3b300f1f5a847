"""ModelOptFp8Config: NVIDIA ModelOpt's FP8, per tensor, per channel or in blocks."""

from dataclasses import dataclass
from typing import ClassVar

from fse_core.quantization.base import refuse
from fse_core.quantization.modelopt import ModelOpt
from fse_core.read.getters import Fields

_ALGORITHMS = ("FP8", "FP8_PER_CHANNEL_PER_TOKEN", "FP8_PB_WO")


@dataclass(frozen=True, kw_only=True)
class ModelOptFp8(ModelOpt):
    """Source: model_executor/layers/quantization/modelopt.py:412 at 0.33.0."""

    class_name: ClassVar[str] = "ModelOptFp8Config"

    @classmethod
    def validate(cls, algorithm: str, block: Fields, *, nested: bool) -> None:
        if algorithm not in _ALGORITHMS:
            raise refuse(
                f"Unsupported ModelOpt FP8 quant_algo for vLLM: {algorithm}. Supported: {' / '.join(_ALGORITHMS)}."
            )


CLASS = ModelOptFp8
