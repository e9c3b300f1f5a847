"""AutoGPTQConfig: GPTQ checkpoints."""

from dataclasses import dataclass
from typing import ClassVar, Self

from fse_core.quantization.base import Quantization, demand
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release


@dataclass(frozen=True, kw_only=True)
class AutoGptq(Quantization):
    """Source: model_executor/layers/quantization/auto_gptq.py:190 at 0.33.0."""

    class_name: ClassVar[str] = "AutoGPTQConfig"

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        for key in ("bits", "group_size", "desc_act", "sym"):
            demand(fields, key)
        return cls()


CLASS = AutoGptq
