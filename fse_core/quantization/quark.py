"""QuarkConfig: AMD Quark's checkpoints, one scheme for all with exceptions by name."""

import copy
import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

from fse_core.errors import ReleaseRaises
from fse_core.names import Rename
from fse_core.quantization import fields as field_sets
from fse_core.quantization import quark_schemes
from fse_core.quantization.base import YES, Answer, Quantization, Question, raised_by, refuse
from fse_core.quantization.keys import QuantKey
from fse_core.quantization.matching import NameList, ignored, shard_names
from fse_core.quantization.patterns import LayerIndex, Pattern, glob
from fse_core.quantization.reading import Listed, leaves, place
from fse_core.quantization.storage import Stored
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release

Config = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Quark(Quantization):
    """Source: model_executor/layers/quantization/quark/quark.py:88 at 0.33.0.

    `exclude` is None where the block has no list, `layer_types` where it has no layer_type_quant_config: both are
    needed as soon as a linear module is built. `layer_configs` are the exceptions, in the order they are tried.
    """

    class_name: ClassVar[str] = "QuarkConfig"

    exclude: NameList | None
    global_config: Config | None
    layer_configs: Mapping[str, Config]
    layer_types: Config | None
    pack_method: object

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        if fields.get("export") is None:
            raise refuse("The export key should be included in the configurations of Quark quantized model")
        export = fields.object("export")
        exceptions = fields.object("layer_quant_config", {})
        for key in (key for key in exceptions if exceptions.get(key) is not None):
            quark_schemes.check_config(exceptions.object(key))
        quark_schemes.check_config(fields.object("global_quant_config", {}))
        layer_configs = copy.deepcopy(dict(exceptions.raw))
        if export.get("kv_cache_group") is None:
            raise ReleaseRaises("TypeError", "object of type 'NoneType' has no len()")
        groups = export.strings("kv_cache_group")
        if groups and fields.get("layer_quant_config") is None:
            raise ReleaseRaises("AttributeError", "'NoneType' object has no attribute 'keys'")
        if groups:
            _take_kv_cache(groups, layer_configs)
        if release.has("quark_reads_deepseek_weight") and model.model_type in ("deepseek_v3", "deepseek_v32"):
            _read_weight(fields)
        return cls(
            exclude=None if fields.get("exclude") is None else NameList(fields.strings("exclude")),
            global_config=None
            if fields.get("global_quant_config") is None
            else fields.object("global_quant_config").raw,
            layer_configs=layer_configs,
            layer_types=None
            if fields.get("layer_type_quant_config") is None
            else fields.object("layer_type_quant_config").raw,
            pack_method=export.get("pack_method"),
        )

    def renamed(self, rename: Rename) -> "Quark":
        """vLLM renames every list, every object's keys and every text; of these the gate reads the two."""
        layers = {rename(pattern): config for pattern, config in self.layer_configs.items()}
        return replace(
            self,
            exclude=None if self.exclude is None else self.exclude.renamed(rename),
            layer_configs=layers,
        )

    def _layer_config(self, name: str) -> Config | None:
        """The exception for one module: the first key that is a glob matching it, or that contains its whole name."""
        for key, pattern in self._keys.for_name(name):
            if (name in key) if pattern is None else pattern.match(name):
                return self.layer_configs[key]
        return None

    @cached_property
    def _keys(self) -> LayerIndex[tuple[str, Pattern | None]]:
        patterns = ((key, glob(key) if "*" in key else None) for key in self.layer_configs)
        return LayerIndex((key if pattern is None else pattern.fixed, (key, pattern)) for key, pattern in patterns)

    def _config(self, name: str) -> Config | None:
        """The scheme of one module; an empty exception counts as none (config_utils.py:285 at 0.33.0)."""
        return self._layer_config(name) or self.global_config

    def scheme(self, name: str) -> Config | None:
        """The scheme that is in force for one module, as it is written."""
        return self._config(name)

    def gate(self, branch: str, question: Question) -> Answer | None:
        if branch != self.class_name:
            return None
        if self._excludes_shared(question):
            return question.no("quark_excludes")
        routed = self._config(question.experts)
        shards = [s for name in question.projections for s in shard_names(name, question.packed) or (name,)]
        alike = all(self._config(shard) == routed for shard in shards)
        return YES if alike else question.no("quark_differs")

    def _excludes_shared(self, question: Question) -> bool:
        if question.release.has("quark_excludes_by_text"):  # config_utils.py:145 at 0.29.0
            return any("shared_expert" in entry for entry in self._listed.entries)
        return any(ignored(name, self._listed, question.packed) for name in question.projections)

    def routed_keys(self, question: Question) -> tuple[QuantKey | None, QuantKey | None] | None:
        if self._excludes_routed(question):
            return None, None
        config = self._layer_config(question.experts)
        if config is None:
            config = self.global_config
        if self.layer_types is None or config is None:
            raise _NO_LAYER_TYPES
        return quark_schemes.routed_keys(config, self.pack_method, question.experts)

    @property
    def _listed(self) -> NameList:
        if self.exclude is None:
            raise _NO_EXCLUDE
        return self.exclude

    def _excludes_routed(self, question: Question) -> bool:
        """Whether the routed experts stay unquantized: any entry for one of their modules is enough."""
        name = question.experts
        alone = question.release.has("quark_builds_left_out_experts_as_linear")
        children = not alone and self._listed.names_within(name)
        return children or ignored(name, self._listed, question.packed)

    def numbered(self) -> bool:
        return self.exclude is None or self.exclude.numbered or NameList(tuple(self.layer_configs)).numbered

    def stored(self, question: Question) -> Stored | None:
        """By the scheme of each side, where the list leaves it one."""
        if self.exclude is None:
            return None
        routed, *shared = (
            quark_schemes.storage(self._config(name) or {})
            for name in (question.experts, *leaves(question.shared, question.packed))
        )
        if routed is None or any(storage is None for storage in shared):
            return None
        exclude = self.exclude
        listed = Listed(
            entries=exclude,
            keys=("exclude",),
            by_parent=False,
            skips=lambda name: (
                self._excludes_routed(question) if name == question.experts else ignored(name, exclude, question.packed)
            ),
        )
        stored = listed.stored(question, routed)
        other = next((storage for storage in shared if storage != routed), None)
        if stored is None or other is None or stored.shared != routed:
            return stored
        return replace(stored, shared=other, place=place(question, ("layer_quant_config",)))

    def on_linear(self) -> ReleaseRaises | None:
        if self.exclude is None:
            return _NO_EXCLUDE
        bare = self.layer_types is None or (self.global_config is None and not self.layer_configs)
        return _NO_LAYER_TYPES if bare and not self.exclude.entries else None

    def fields(self, name: str, question: Question) -> field_sets.Fields | None:
        routed = name == question.experts
        if self._excludes_routed(question) if routed else ignored(name, self._listed, question.packed):
            return field_sets.PLAIN
        shards = (name,) if routed else shard_names(name, question.packed) or (name,)
        made = [quark_schemes.fields(self._config(shard) or {}) for shard in shards]
        return made[0] if all(one == made[0] for one in made) else None

    def on_experts(self, question: Question) -> ReleaseRaises | None:
        if question.release.has("quark_builds_left_out_experts_as_linear") and self._excludes_routed(question):
            return ReleaseRaises("AssertionError", "")
        return raised_by(lambda: self._require_a_scheme(question))

    def _require_a_scheme(self, question: Question) -> None:
        lacking = self.layer_types is None or self._config(question.experts) is None
        if lacking and not self._excludes_routed(question):
            raise _NO_LAYER_TYPES

    def on_shared(self, question: Question) -> ReleaseRaises | None:
        return raised_by(lambda: self._require_one_scheme(question))

    def _require_one_scheme(self, question: Question) -> None:
        """Source: model_executor/layers/quantization/quark/quark.py:786 at 0.33.0."""
        name = question.projections[0]
        shards = shard_names(name, question.packed)
        if shards is None or ignored(name, self._listed, question.packed):
            return
        configs = [self._layer_config(shard) for shard in shards]
        found = [self.global_config if config is None else config for config in configs]
        if all(config == found[0] for config in found):
            return
        leaves = [shard.rpartition(".")[2] for shard in shards]
        raise ReleaseRaises(
            "ValueError",
            f"Found a different quantization configuration for {leaves} in {name}. vLLM requires all to use the same "
            "scheme.",
        )


_NO_EXCLUDE = ReleaseRaises("TypeError", "'NoneType' object is not iterable")
_NO_LAYER_TYPES = ReleaseRaises("AttributeError", "'NoneType' object has no attribute 'get'")


def _take_kv_cache(groups: Sequence[str], layer_configs: dict[str, Any]) -> None:
    """Drop from the exceptions what describes the KV cache, as vLLM does before it compares schemes.

    Source: model_executor/layers/quantization/quark/quark.py:271 at 0.33.0.
    """
    named = {name: config for name, config in layer_configs.items() if config is not None}
    chosen = [c for name, c in named.items() if any(fnmatch.fnmatchcase(name, g) for g in groups)]
    if not (set(groups) <= set(layer_configs) or chosen):
        raise refuse(_NO_KV_CACHE)
    first = chosen[0].get("output_tensors") if chosen else None
    if any(config.get("output_tensors") != first for config in chosen):
        raise refuse(
            "The quantization method used for kv_cache should be the same, but the quantization method for the "
            "kv_cache layer in the config is different."
        )
    if first is None:
        raise refuse("The kv_cache quantization configuration is empty.")
    for config in chosen:
        config["output_tensors"] = None
    query = layer_configs.get("*q_proj")
    if query is not None:
        query["output_tensors"] = None


def _read_weight(fields: Fields) -> None:
    """The class looks into the global scheme's weight (quark/quark.py:107 at 0.29.0)."""
    scheme = fields.get("global_quant_config") if "global_quant_config" in fields else {}
    for value in (scheme, scheme.get("weight", {}) if isinstance(scheme, Mapping) else {}):
        if not isinstance(value, Mapping):
            raise ReleaseRaises("AttributeError", f"{type(value).__name__!r} object has no attribute 'get'")


_NO_KV_CACHE = (
    "The Quark quantized model has the kv_cache_group parameter setting, but no kv_cache quantization settings "
    "were found in the quantization configuration."
)

CLASS = Quark
