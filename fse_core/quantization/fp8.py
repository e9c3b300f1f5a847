"""Fp8Config: FP8 checkpoints, in blocks or with one scale a tensor."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from fse_core.errors import ReleaseRaises
from fse_core.names import Rename
from fse_core.quantization import fields as field_sets
from fse_core.quantization.base import YES, Answer, Quantization, Question, demand, raised_by, refuse
from fse_core.quantization.matching import NameList, skipped
from fse_core.quantization.reading import Listed
from fse_core.quantization.storage import FP8_BLOCK, FP8_TENSOR, Stored
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release


@dataclass(frozen=True, kw_only=True)
class Fp8(Quantization):
    """`block` is the block size, None where a tensor has one scale.

    Source: model_executor/layers/quantization/fp8.py:88 at 0.33.0.
    """

    class_name: ClassVar[str] = "Fp8Config"

    ignored_layers: NameList
    block: tuple[int, ...] | None
    store_dtype: str | None
    static: bool = False
    """Whether the activations' scales are stored."""

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        demand(fields, "quant_method")
        scheme = demand(fields, "activation_scheme")
        if scheme not in ("static", "dynamic"):
            raise refuse(f"Unsupported activation scheme {scheme}")
        ignored = fields.strings("ignored_layers", []) or fields.strings("modules_to_not_convert", [])
        block = None
        if fields.get("weight_block_size") is not None:
            dimensions = _dimensions(fields.get("weight_block_size"))
            if dimensions != 2:
                raise refuse(
                    f"The quantization block size of weight must have 2 dimensions, but got {dimensions} dimensions"
                )
            if scheme != "dynamic":
                raise refuse(
                    "The block-wise quantization only supports dynamic activation scheme for now, "
                    f"but got {scheme} activation scheme."
                )
            block = tuple(fields.integers("weight_block_size"))
        return cls(
            ignored_layers=NameList(ignored),
            block=block,
            store_dtype=fields.optional_string("store_dtype"),
            static=scheme == "static",
        )

    def renamed(self, rename: Rename) -> "Fp8":
        return replace(self, ignored_layers=self.ignored_layers.renamed(rename))

    def gate(self, branch: str, question: Question) -> Answer | None:
        if branch != Fp8.class_name:
            return None
        if self.store_dtype is not None:
            return question.no("fp8_store_dtype", store_dtype=self.store_dtype)
        if self.block is None:
            return question.no("fp8_not_block")
        routed = skipped(question.experts, self.ignored_layers, question.packed)
        for name in question.projections:
            if skipped(name, self.ignored_layers, question.packed) != routed:
                return question.no("fp8_ignores")
        return YES

    def numbered(self) -> bool:
        return self.ignored_layers.numbered

    def stored(self, question: Question) -> Stored | None:
        listed = Listed(
            entries=self.ignored_layers,
            keys=("ignored_layers", "modules_to_not_convert"),
            skips=lambda name: skipped(name, self.ignored_layers, question.packed),
        )
        return listed.stored(question, FP8_TENSOR if self.block is None else FP8_BLOCK)

    def fields(self, name: str, question: Question) -> field_sets.Fields | None:
        if self.store_dtype is not None:
            return None
        if skipped(name, self.ignored_layers, question.packed):
            return field_sets.PLAIN
        if self.block is None:
            return field_sets.fp8_tensor(static=self.static)
        return field_sets.fp8_blocks("weight_scale_inv", (self.block[0], self.block[1]))

    def on_shared(self, question: Question) -> ReleaseRaises | None:
        return raised_by(lambda: skipped(question.projections[0], self.ignored_layers, question.packed))


def _dimensions(value: Any) -> int:
    """vLLM counts whatever has a length, a text's characters too."""
    try:
        return len(value)
    except TypeError as error:
        raise ReleaseRaises("TypeError", str(error)) from None


CLASS = Fp8
