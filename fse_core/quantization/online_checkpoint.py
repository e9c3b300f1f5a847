"""OnlineQuantizationConfig, named as a checkpoint's own method: vLLM reads no block with it."""

from dataclasses import dataclass
from typing import ClassVar, Self

from fse_core.errors import ReleaseRaises
from fse_core.quantization.base import Quantization
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release


@dataclass(frozen=True, kw_only=True)
class OnlineCheckpoint(Quantization):
    """Source: model_executor/layers/quantization/online/base.py:208 at 0.33.0."""

    class_name: ClassVar[str] = "OnlineQuantizationConfig"

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        raise ReleaseRaises(
            "NotImplementedError",
            "OnlineQuantizationConfig does not support loading from a checkpoint config. Use quantization_config or "
            "quantization='fp8_per_tensor'/'fp8_per_block' instead.",
        )


CLASS = OnlineCheckpoint
