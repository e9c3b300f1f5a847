"""ModelOptMxFp8Config: MXFP8, from NVIDIA ModelOpt or from a block that is named mxfp8 itself."""

from dataclasses import dataclass
from typing import ClassVar, Self

from fse_core.quantization.base import YES, Answer, Question, refuse
from fse_core.quantization.matching import NameList
from fse_core.quantization.modelopt import ModelOpt, demand_fields
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release


@dataclass(frozen=True, kw_only=True)
class ModelOptMxFp8(ModelOpt):
    """Source: model_executor/layers/quantization/modelopt.py:1203 at 0.33.0."""

    class_name: ClassVar[str] = "ModelOptMxFp8Config"

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        if "quantization" not in fields and not fields.get("quant_algo"):
            return cls(exclude=NameList(fields.strings("ignored_layers", [])), algorithm="MXFP8")
        return super().parse(fields, model, release)

    @classmethod
    def validate(cls, algorithm: str, block: Fields, *, nested: bool) -> None:
        if "MXFP8" not in algorithm:
            raise refuse("MXFP8 quantization requires a serialized checkpoint. Dynamic quantization is not supported.")
        if nested:
            demand_fields("MXFP8", block, ("kv_cache_quant_algo", "exclude_modules"))

    def gate(self, branch: str, question: Question) -> Answer | None:
        if branch != self.class_name:
            return None
        routed = self.excluded(question.experts, question.packed)
        for name in question.projections:
            if self.excluded(name, question.packed) != routed:
                return question.no("mxfp8_excludes")
        return YES


CLASS = ModelOptMxFp8
