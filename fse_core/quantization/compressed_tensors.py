"""CompressedTensorsConfig: checkpoints of llm-compressor and others."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from fse_core.names import Rename
from fse_core.quantization import fields as field_sets
from fse_core.quantization.base import Quantization, Question
from fse_core.quantization.matching import NameList, ignored
from fse_core.quantization.reading import Listed, leaves, readable
from fse_core.quantization.storage import FP8_BLOCK, FP8_CHANNEL, FP8_TENSOR, INT8, PLAIN, Storage, Stored
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release

_FP8 = {"tensor": FP8_TENSOR, "channel": FP8_CHANNEL, "block": FP8_BLOCK}


@dataclass(frozen=True, kw_only=True)
class CompressedTensors(Quantization):
    """It has no branch in the gate. `groups` are each scheme's targets, how it stores weights, and as which parameters;
    None if unknown.

    Source: model_executor/layers/quantization/compressed_tensors/compressed_tensors.py:90 at 0.33.0.
    """

    class_name: ClassVar[str] = "CompressedTensorsConfig"

    ignore: NameList
    groups: tuple[tuple[NameList, Storage | None, field_sets.Fields | None], ...]

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        groups = fields.get("config_groups")
        found = groups.values() if isinstance(groups, dict) else ()
        return cls(ignore=readable(fields, "ignore"), groups=tuple(_group(group, fields) for group in found))

    def renamed(self, rename: Rename) -> "CompressedTensors":
        return replace(self, ignore=self.ignore.renamed(rename))

    def numbered(self) -> bool:
        return self.ignore.numbered or any(targets.numbered for targets, _, _ in self.groups)

    def stored(self, question: Question) -> Stored | None:
        """A module that no scheme targets is stored as it was."""
        routed = self._storage(f"{question.experts}.0.gate_proj")
        shared = {self._storage(leaf) for leaf in leaves(question.shared, question.packed)}
        if routed is None or len(shared) != 1 or None in shared:
            return None
        names = {question.experts: f"{question.experts}.0.gate_proj"}
        listed = Listed(
            entries=self.ignore,
            keys=("ignore",),
            skips=lambda name: ignored(names.get(name, name), self.ignore, question.packed),
        )
        stored = listed.stored(question, routed)
        if stored is None or not stored.heard:
            # The exporter reads the list as the release does, so that what it does not hear is quantized.
            return None if stored is None else replace(stored, shared=routed, heard=True, entries=())
        return stored if stored.shared == PLAIN else replace(stored, shared=shared.pop() or PLAIN)

    def fields(self, name: str, question: Question) -> field_sets.Fields | None:
        looked_up = f"{name}.0.gate_proj" if name == question.experts else name
        if ignored(looked_up, self.ignore, question.packed):
            return field_sets.PLAIN
        return next((made for targets, _, made in self.groups if _targets(targets, looked_up)), field_sets.PLAIN)

    def _storage(self, name: str) -> Storage | None:
        return next((storage for targets, storage, _ in self.groups if _targets(targets, name)), PLAIN)


def _targets(targets: NameList, name: str) -> bool:
    return "Linear" in targets.names or targets.matches(name)


def _group(group: Any, fields: Fields) -> tuple[NameList, Storage | None, field_sets.Fields | None]:
    if not isinstance(group, dict):
        return NameList(()), None, None
    weights = group.get("weights")
    layout = str(group.get("format") or fields.get("format") or "")
    stored = _storage_of(weights, layout) if isinstance(weights, dict) else None
    return readable(Fields(group), "targets"), stored, _fields_of(stored, group)


def _fields_of(stored: Storage | None, group: Mapping[str, Any]) -> field_sets.Fields | None:
    """Source: compressed_tensors/compressed_tensors_moe/compressed_tensors_moe_w8a8_fp8.py:114 at 0.33.0."""
    static = field_sets.is_static(group.get("input_activations"))
    if stored == FP8_TENSOR:
        return field_sets.fp8_tensor(static=static)
    return field_sets.fp8_rows(column=True, static=static) if stored == FP8_CHANNEL else None


def _storage_of(weights: Mapping[str, Any], layout: str) -> Storage | None:
    bits, kind = weights.get("num_bits"), weights.get("type")
    if layout.endswith("pack-quantized") or layout == "pack-quantized":
        return Storage(name=f"packed {'FP' if kind == 'float' else 'INT'}{bits}", weight="elsewhere", scales="group")
    if bits != 8:
        return None
    return _FP8.get(str(weights.get("strategy"))) if kind == "float" else INT8


CLASS = CompressedTensors
