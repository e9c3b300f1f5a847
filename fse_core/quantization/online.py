"""The online overlay, `--quantization-config`: what vLLM quantizes while it loads, on top of the checkpoint's block.

Source: config/quantization.py:92 and model_executor/layers/quantization/online/base.py:161 at 0.33.0.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fse_core.errors import InputError, ReleaseRaises, Undecided
from fse_core.names import Packed
from fse_core.quantization import keys
from fse_core.quantization.base import Question, refuse
from fse_core.quantization.keys import QuantKey
from fse_core.quantization.matching import NameList, ignored, shard_names
from fse_core.quantization.regexes import compile_pattern
from fse_core.read.getters import Fields
from fse_core.releases.release import Release

NAMES: Mapping[str, QuantKey] = {
    "fp8_per_tensor_static": keys.FP8_STATIC_TENSOR,
    "fp8_per_tensor_dynamic": keys.FP8_DYNAMIC_TENSOR,
    "fp8_per_token": keys.FP8_DYNAMIC_TOKEN,
    "fp8_per_channel_static": keys.FP8_STATIC_CHANNEL,
    "fp8_per_block_static": keys.FP8_STATIC_BLOCK,
    "fp8_per_block_dynamic": keys.FP8_DYNAMIC_128,
    "mxfp8": keys.MXFP8_DYNAMIC,
    "mxfp4": keys.MXFP4_DYNAMIC,
    "nvfp4_per_token": keys.NVFP4_DYNAMIC_TOKEN,
    "int8_per_channel_static": keys.INT8_STATIC_CHANNEL,
    "int8_per_group_32": keys.INT8_DYNAMIC_32,
    "int4_per_group_32": keys.INT4_STATIC_32,
}

SHORTHANDS: Mapping[str, tuple[QuantKey | None, QuantKey]] = {
    "fp8_per_tensor": (keys.FP8_STATIC_TENSOR, keys.FP8_STATIC_TENSOR),
    "fp8_per_block": (keys.FP8_STATIC_BLOCK, keys.FP8_STATIC_BLOCK),
    "fp8_per_channel": (keys.FP8_STATIC_CHANNEL, keys.FP8_STATIC_CHANNEL),
    "mxfp8": (keys.MXFP8_DYNAMIC, keys.MXFP8_DYNAMIC),
    "mxfp4": (keys.MXFP4_STATIC, keys.MXFP4_STATIC),
    "int8_per_channel_weight_only": (None, keys.INT8_STATIC_CHANNEL),
    "nvfp4_per_token": (None, keys.NVFP4_STATIC),
}
"""Name to the weight keys of (linear, MoE) modules; None where the shorthand leaves that kind alone."""

LINEAR_METHODS: Mapping[QuantKey, tuple[str, QuantKey | None]] = {
    keys.FP8_STATIC_TENSOR: ("Fp8PerTensorOnlineLinearMethod", keys.FP8_DYNAMIC_TENSOR),
    keys.FP8_STATIC_BLOCK: ("Fp8PerBlockOnlineLinearMethod", keys.FP8_DYNAMIC_128),
    keys.FP8_STATIC_CHANNEL: ("Fp8PtpcOnlineLinearMethod", keys.FP8_DYNAMIC_TOKEN),
    keys.MXFP8_DYNAMIC: ("Mxfp8OnlineLinearMethod", None),
    keys.MXFP4_STATIC: ("Mxfp4OnlineLinearMethod", keys.MXFP4_DYNAMIC),
}
"""Weight key to the class that quantizes linear modules to it, and that class's activation key."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What one kind of module is quantized to; None leaves that side to the checkpoint."""

    weight: QuantKey | None = None
    activation: QuantKey | None = None

    def text(self, *, fnuz: bool) -> str:
        """How the release prints the spec: by its weight key's name, or that key in full where it has none."""
        if self.weight is None:
            return "None"
        return next((name for name, key in NAMES.items() if key == self.weight), self.weight.text(fnuz=fnuz))


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """A valid overlay. `targets` maps patterns to shorthands and excludes `linear` and `moe`."""

    linear: Spec | None = None
    moe: Spec | None = None
    ignore: NameList = field(default_factory=lambda: NameList(()))
    targets: Mapping[str, str] | None = None

    def require_some(self) -> None:
        """Refuse an overlay that asks for nothing, as vLLM does once it has a checkpoint's block to lay it on."""
        if self.linear is None and self.moe is None and self.targets is None:
            raise refuse(
                "OnlineQuantizationConfig requires at least one of quantization_config.linear, "
                "quantization_config.moe, or quantization_config.targets to be set."
            )

    def linear_keys(self, name: str, question: Question) -> tuple[QuantKey, QuantKey | None] | None:
        """The (weight, activation) keys that linear module `name` is quantized to online, None where it is not."""
        spec = self._spec(name, question.packed)
        return None if spec is None else _linear_keys(spec, question.fnuz)

    def on_linear(self, *, fnuz: bool) -> ReleaseRaises | None:
        """What the release raises at the first linear module of the model, whichever it is, where it ignores none.

        Its words name that module's class; here they name the base class, as the gate's do.
        """
        if self.targets is None and self.linear is not None and not self.ignore.entries:
            try:
                _linear_keys(self.linear, fnuz)
            except ReleaseRaises as raised:
                return raised
        return None

    def _spec(self, name: str, packed: Packed) -> Spec | None:
        left_out = ignored(name, self.ignore, packed, globs=True)
        if self.targets is None:
            return None if left_out else self.linear
        pattern = _target(name, self.targets, packed)
        if left_out and pattern is not None:
            raise ReleaseRaises(
                "ValueError",
                f"Layer {name} matches both quantization_config.ignore and quantization_config.targets "
                f"({[pattern]}); a layer may not be referenced by both.",
            )
        if pattern is None:
            return None
        weight = SHORTHANDS[self.targets[pattern]][0]
        if weight is None:
            raise ReleaseRaises(
                "ValueError",
                f"targets pattern {pattern} = {self.targets[pattern]} does not define a QuantSpec for LinearBase "
                f"layers (matched at {name}).",
            )
        return Spec(weight=weight)


def _linear_keys(spec: Spec, fnuz: bool) -> tuple[QuantKey, QuantKey | None] | None:
    """Source: model_executor/layers/quantization/online/base.py:224 at 0.33.0."""
    if spec.weight is None or spec.weight == keys.INT4_STATIC_32:
        return None
    if spec.weight not in LINEAR_METHODS:
        supported = sorted(key.text(fnuz=fnuz) for key in LINEAR_METHODS)
        raise ReleaseRaises(
            "ValueError",
            f"online quantization for LinearBase with weight={spec.weight.text(fnuz=fnuz)} is not supported; "
            f"supported weight keys: {supported}",
        )
    method, activation = LINEAR_METHODS[spec.weight]
    if spec.activation is not None:
        raise ReleaseRaises(
            "ValueError",
            f"activation override (activation={spec.activation.text(fnuz=fnuz)}) is not yet supported "
            f"for online {method}",
        )
    return spec.weight, activation


def _target(name: str, targets: Mapping[str, str], packed: Packed) -> str | None:
    """The one pattern that names the module, or each of its shards."""

    def hits(module: str) -> list[str]:
        return sorted(pattern for pattern in targets if NameList([pattern]).matches(module, globs=True))

    direct = hits(name)
    shards = shard_names(name, packed)
    found = [direct] if direct or shards is None else [hits(shard) for shard in shards]
    if not any(found):
        return None
    shown = "[" + ", ".join("{" + ", ".join(map(repr, hit)) + "}" if hit else "set()" for hit in found) + "]"
    if not all(found):
        raise ReleaseRaises(
            "ValueError",
            f"Found unmatched shards for {name}: {shown}. vLLM requires all shards of a fused layer to match a target.",
        )
    if any(len(hit) > 1 for hit in found):
        raise ReleaseRaises(
            "ValueError",
            f"Found multiple quantization_config.targets matches for the shards of {name}: {shown}. "
            "Each shard may match at most one target.",
        )
    patterns = [hit[0] for hit in found]
    if len({targets[pattern] for pattern in patterns}) > 1:
        raise ReleaseRaises(
            "ValueError",
            f"Found different quantization_config.targets values for the shards of {name}: {patterns}. "
            "vLLM requires all shards of a fused layer to use the same target.",
        )
    return patterns[0]


def parse_overlay(raw: Mapping[str, Any], release: Release, *, fnuz: bool) -> Overlay:
    """Validate `--quantization-config` as vLLM does before it looks at the model, on a GPU with(out) fnuz FP8."""
    if not release.overlay["keys"]:
        raise Undecided(f"what --quantization-config may hold in vLLM {release.version} is not known")
    fields = Fields(raw, "--quantization-config")
    for key in fields:
        if key not in release.overlay["keys"]:
            raise _invalid(key, "Unexpected keyword argument")
    linear, moe = (_spec_of(fields, kind, release) for kind in ("linear", "moe"))
    if fields.get("ignore") is None and "ignore" in fields:
        raise _invalid("ignore", "Input should be a valid list")
    targets = _targets_of(fields)
    if targets is not None and (linear is not None or moe is not None):
        shown = [None if spec is None else spec.text(fnuz=fnuz) for spec in (linear, moe)]
        raise refuse(
            "quantization_config.targets is mutually exclusive with quantization_config.linear/moe, "
            f"got targets={dict(targets)}, linear={shown[0]}, moe={shown[1]}.",
            by="QuantizationConfigArgs",
        )
    return Overlay(linear=linear, moe=moe, ignore=NameList(fields.strings("ignore", [])), targets=targets)


def _invalid(place: str, words: str) -> ReleaseRaises:
    return ReleaseRaises("ValidationError", f"1 validation error for QuantizationConfigArgs\n{place}\n  {words}")


def _named(name: object, place: str, release: Release) -> QuantKey | None:
    if name is None:
        return None
    if not isinstance(name, str):
        raise ReleaseRaises("TypeError", f"expected str or QuantKey, got {type(name).__name__}")
    names = release.overlay["names"]
    if name not in names:
        raise _invalid(place, f"Value error, unknown quantization name {name!r}; expected one of {sorted(names)}")
    return NAMES[name]


def _spec_of(fields: Fields, kind: str, release: Release) -> Spec | None:
    value = fields.get(kind)
    if value is None:
        return None
    if isinstance(value, str):
        if value not in release.overlay["shorthands"]:
            return Spec(weight=_named(value, kind, release))
        weight = SHORTHANDS[value][kind == "moe"]
        if weight is None:
            raise _invalid(kind, f"Value error, online shorthand {value!r} does not define a {kind} spec")
        return Spec(weight=weight)
    if not isinstance(value, Mapping):
        raise InputError(fields.at(kind), "expected a shorthand or an object with weight and activation")
    for key in value:
        if key not in ("weight", "activation"):
            raise _invalid(f"{kind}.{key}", "Unexpected keyword argument")
    sides = {side: _named(value.get(side), f"{kind}.{side}", release) for side in ("weight", "activation")}
    return Spec(weight=sides["weight"], activation=sides["activation"])


def _require_regex(pattern: str) -> None:
    """Refuse a group that is not closed, in vLLM's words. For other faults its library and ours have other words."""
    try:
        re.compile(pattern[3:])
    except re.error as error:
        if error.msg.startswith("missing )"):
            words = f"targets key {pattern} is not a valid regex: missing ) at position {len(pattern) - 3}"
            raise _invalid("targets", f"Value error, {words}") from None
    except (OverflowError, RecursionError):
        pass
    compile_pattern(pattern[3:])


def _targets_of(fields: Fields) -> Mapping[str, str] | None:
    targets = fields.get("targets")
    if targets is None:
        return None
    if not isinstance(targets, Mapping):
        raise ReleaseRaises("TypeError", f"targets must be a dict, got {type(targets).__name__}")
    for pattern, shorthand in targets.items():
        if not isinstance(shorthand, str) or shorthand not in SHORTHANDS:
            raise _invalid(
                "targets",
                f"Value error, targets[{pattern}] = {shorthand} is not a valid online shorthand name; "
                f"expected one of {sorted(SHORTHANDS)}",
            )
        if pattern.startswith("re:"):
            _require_regex(pattern)
    return targets
