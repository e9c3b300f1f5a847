"""AutoAWQConfig: AWQ checkpoints."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from fse_core.names import Rename
from fse_core.quantization.base import Quantization, Question, demand
from fse_core.quantization.matching import NameList
from fse_core.quantization.reading import Listed, leaves, readable
from fse_core.quantization.storage import Storage, Stored
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release

_AWQ = Storage(name="AWQ", weight="elsewhere", scales="group")


@dataclass(frozen=True, kw_only=True)
class AutoAwq(Quantization):
    """Source: model_executor/layers/quantization/auto_awq.py:241 at 0.33.0."""

    class_name: ClassVar[str] = "AutoAWQConfig"
    former_names: ClassVar[tuple[str, ...]] = ("AWQConfig", "AWQMarlinConfig")

    left_out: NameList

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        for keys in (("w_bit", "bits"), ("q_group_size", "group_size"), ("zero_point",)):
            demand(fields, *keys)
        return cls(left_out=readable(fields, "modules_to_not_convert"))

    def renamed(self, rename: Rename) -> "AutoAwq":
        return replace(self, left_out=self.left_out.renamed(rename))

    def numbered(self) -> bool:
        return self.left_out.numbered

    def stored(self, question: Question) -> Stored | None:
        """An entry that is a part of a module's name leaves it out."""

        def skips(name: str) -> bool:
            module = name.rpartition(".")[0]
            names = (name,) if name == question.experts else leaves(module, question.packed)
            return all(entry_of in self.left_out.names or self.left_out.part_of(entry_of) for entry_of in names)

        return Listed(entries=self.left_out, keys=("modules_to_not_convert",), skips=skips).stored(question, _AWQ)


CLASS = AutoAwq
