"""AutoGPTQConfig: GPTQ checkpoints."""

from dataclasses import dataclass
from typing import ClassVar, Self

from fse_core.quantization.base import Quantization, Question, demand
from fse_core.quantization.matching import NameList
from fse_core.quantization.reading import Listed
from fse_core.quantization.storage import Storage, Stored
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release

_GPTQ = Storage(name="GPTQ", weight="elsewhere", scales="group")


@dataclass(frozen=True, kw_only=True)
class AutoGptq(Quantization):
    """`left_out` are the patterns that `dynamic` marks with `-:`.

    Source: model_executor/layers/quantization/auto_gptq.py:190 and utils/gptq_utils.py:50 at 0.33.0.
    """

    class_name: ClassVar[str] = "AutoGPTQConfig"
    former_names: ClassVar[tuple[str, ...]] = ("GPTQConfig", "GPTQMarlinConfig")

    left_out: NameList

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        for key in ("bits", "group_size", "desc_act", "sym"):
            demand(fields, key)
        dynamic = fields.get("dynamic")
        patterns = dynamic if isinstance(dynamic, dict) else {}
        return cls(left_out=NameList([f"re:{pattern[2:]}" for pattern in patterns if pattern.startswith("-:")]))

    def numbered(self) -> bool:
        return self.left_out.numbered

    def stored(self, question: Question) -> Stored | None:
        return Listed(entries=self.left_out, keys=("dynamic",), skips=self.left_out.matches).stored(question, _GPTQ)


CLASS = AutoGptq
