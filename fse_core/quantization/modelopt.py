"""What NVIDIA ModelOpt's classes share: both dialects of the block, and how names are excluded."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from fse_core.errors import ReleaseRaises
from fse_core.names import Packed, Rename
from fse_core.quantization import fields as field_sets
from fse_core.quantization.base import Quantization, Question, raised_by, refuse
from fse_core.quantization.matching import NameList, skipped
from fse_core.quantization.reading import Listed
from fse_core.quantization.storage import FP8_BLOCK, FP8_CHANNEL, FP8_TENSOR, MXFP8, NVFP4, Storage, Stored
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release

_STORAGE: Mapping[str, Storage] = {
    "FP8": FP8_TENSOR,
    "FP8_PER_CHANNEL_PER_TOKEN": FP8_CHANNEL,
    "FP8_PB_WO": FP8_BLOCK,
    "NVFP4": NVFP4,
    "W4A16_NVFP4": NVFP4,
    "MXFP8": MXFP8,
}

_FIELDS: Mapping[str, field_sets.Fields] = {
    "FP8": field_sets.fp8_tensor(static=True),
    "NVFP4": field_sets.nvfp4(),
    "MXFP8": field_sets.mxfp8(),
}


@dataclass(frozen=True, kw_only=True)
class ModelOpt(Quantization):
    """Source: model_executor/layers/quantization/modelopt.py:175 at 0.33.0."""

    exclude: NameList
    algorithm: str

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        nested = "quantization" in fields
        if nested and not isinstance(fields.get("quantization"), dict):
            raise refuse("Expected 'quantization' to be a dictionary in config")
        block = fields.object("quantization") if nested else fields
        if not block.get("quant_algo"):
            raise refuse("Missing 'quant_algo' in quantization config")
        algorithm = str(block.get("quant_algo")).upper()
        cache = block.get("kv_cache_quant_algo") if nested else None
        if not isinstance(cache, str | None):
            raise refuse(f"kv_cache_quant_algo must be a string, got {type(cache)}")
        key = _exclude_key(block, release, nested=nested)
        listed = block.raw.get(key, [])
        if not isinstance(listed, list):
            raise refuse(f"exclude_modules must be a list, got {type(listed)}")
        _check_group_size(block.get("group_size"))
        if algorithm not in release.modelopt_algorithms:
            raise refuse(
                f"ModelOpt currently only supports: {list(release.modelopt_algorithms)} quantizations in vLLM. Please "
                "check the `hf_quant_config.json` file for your model's quant configuration."
            )
        cls.validate(algorithm, block, nested=nested)
        return cls(exclude=NameList(block.strings(key, [])), algorithm=algorithm)

    @classmethod
    def validate(cls, algorithm: str, block: Fields, *, nested: bool) -> None:
        """Refuse what the subclass does not take."""

    def renamed(self, rename: Rename) -> "ModelOpt":
        """A trailing `*` that does not follow a dot first becomes two entries: the name, and all below it."""
        entries: list[str] = []
        for entry in self.exclude.entries:
            if len(entry) >= 2 and entry.endswith("*") and entry[-2] != ".":
                entries += [rename(entry[:-1]), rename(f"{entry[:-1]}.*")]
            else:
                entries.append(rename(entry))
        return replace(self, exclude=NameList(entries))

    def numbered(self) -> bool:
        return self.exclude.numbered

    def stored(self, question: Question) -> Stored | None:
        storage = _STORAGE.get(self.algorithm)
        listed = Listed(
            entries=self.exclude,
            keys=("ignore", "exclude_modules", "ignored_layers"),
            skips=lambda name: self.excluded(name, question.packed),
        )
        return None if storage is None else listed.stored(question, storage)

    def fields(self, name: str, question: Question) -> field_sets.Fields | None:
        return field_sets.PLAIN if self.excluded(name, question.packed) else _FIELDS.get(self.algorithm)

    def on_shared(self, question: Question) -> ReleaseRaises | None:
        return raised_by(lambda: self.excluded(question.projections[0], question.packed))

    def excluded(self, name: str, packed: Packed) -> bool:
        """By exact name, by an entry that is a part of the name, or by a glob (modelopt.py:191 at 0.33.0)."""
        if not self.exclude.entries:
            return False
        if skipped(name, self.exclude, packed):
            return True
        return self.exclude.part_of(name) or self.exclude.globs_match(name)


def _exclude_key(block: Fields, release: Release, *, nested: bool) -> str:
    """Where the excluded modules are listed: until 0.33.0, a flat block's `exclude_modules` is overlooked."""
    if nested or ("ignore" not in block and release.has("modelopt_flat_exclude_modules")):
        return "exclude_modules"
    return "ignore"


def demand_fields(method: str, block: Fields, required: tuple[str, ...]) -> None:
    """Refuse a nested block that lacks what ModelOpt's own file always has."""
    lacking = [key for key in required if key not in block]
    if lacking:
        raise refuse(f"{method} quantization requires the following fields in hf_quant_config.json: {lacking}")


def _check_group_size(value: Any) -> None:
    """Source: modelopt.py:369 at 0.33.0."""
    if value is None or isinstance(value, int):
        return
    try:
        int(value)
    except (ValueError, TypeError):
        raise refuse(f"group_size must be an integer, got {type(value)}") from None
