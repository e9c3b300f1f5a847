"""AutoAWQConfig: AWQ checkpoints."""

from dataclasses import dataclass
from typing import ClassVar, Self

from fse_core.quantization.base import Quantization, demand
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release


@dataclass(frozen=True, kw_only=True)
class AutoAwq(Quantization):
    """Source: model_executor/layers/quantization/auto_awq.py:241 at 0.33.0."""

    class_name: ClassVar[str] = "AutoAWQConfig"

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        for keys in (("w_bit", "bits"), ("q_group_size", "group_size"), ("zero_point",)):
            demand(fields, *keys)
        return cls()


CLASS = AutoAwq
