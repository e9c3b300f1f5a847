"""ModelOptNvFp4Config: NVIDIA ModelOpt's NVFP4."""

from dataclasses import dataclass
from typing import ClassVar

from fse_core.quantization.base import refuse
from fse_core.quantization.modelopt import ModelOpt, demand_fields
from fse_core.read.getters import Fields

_ALGORITHMS = ("NVFP4", "W4A16_NVFP4")


@dataclass(frozen=True, kw_only=True)
class ModelOptNvFp4(ModelOpt):
    """Source: model_executor/layers/quantization/modelopt.py:729 at 0.33.0."""

    class_name: ClassVar[str] = "ModelOptNvFp4Config"

    @classmethod
    def validate(cls, algorithm: str, block: Fields, *, nested: bool) -> None:
        if nested and "NVFP4" in algorithm:
            demand_fields("NVFP4", block, ("group_size", "kv_cache_quant_algo", "exclude_modules"))
        if algorithm not in _ALGORITHMS:
            raise refuse(f"Unsupported ModelOpt NVFP4 quant_algo: {algorithm}. Supported: {' / '.join(_ALGORITHMS)}.")


CLASS = ModelOptNvFp4
