"""GptOssMxfp4Config: the MXFP4 checkpoints of gpt-oss."""

from dataclasses import dataclass
from typing import ClassVar

from fse_core.quantization.base import Quantization


@dataclass(frozen=True, kw_only=True)
class GptOssMxfp4(Quantization):
    """Source: model_executor/layers/quantization/mxfp4.py:120 at 0.33.0. It has no branch in the gate."""

    class_name: ClassVar[str] = "GptOssMxfp4Config"


CLASS = GptOssMxfp4
