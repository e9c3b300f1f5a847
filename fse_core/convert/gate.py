"""What the releases say about a converted checkpoint: which of them fuse it, and why the others do not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fse_core import releases
from fse_core.check import check
from fse_core.convert.safetensors import Header
from fse_core.errors import InputError
from fse_core.families import families
from fse_core.names import Rename
from fse_core.read.model import Model
from fse_core.read.safetensors import facts
from fse_core.report import RUINOUS, Report
from fse_core.target import Target

_SERVED: Final = (Target(gfx="gfx950"), Target(gfx="gfx950", tp=8))
"""The ways of serving that are tried; a family that fuses only in one of its own says so."""


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """One release's answer. `why` is its own words, or ours where it says nothing."""

    release: str
    accepts: bool
    why: str


def shown_class(model: Model) -> str | None:
    """The vLLM class that reads the checkpoint's block, None where it has none. InputError where that is not known."""
    report = check(model, Target())
    if report.quantization is None and report.verdict == "undecided":
        raise InputError("config.json", f"nothing is known about it: {report.undecided_reason}")
    if report.quantization is None and report.startup_error is not None:
        error = report.startup_error
        raise InputError(
            "config.json", f"vLLM {releases.known()[-1]} does not start with it: {error.type}: {error.message}"
        )
    return report.quantization


def with_tensors(model: Model, shards: Mapping[str, Header]) -> Model:
    """The model with what its shards hold, so that the rules about names, types and shapes of tensors speak."""
    tensors = {
        tensor.name: facts.Tensor(name=tensor.name, dtype=tensor.dtype, shape=tensor.shape, file=shard)
        for shard, header in shards.items()
        for tensor in header.tensors.values()
    }
    files = {
        shard: facts.File(name=shard, size=header.file_size, tensors=len(header.tensors), metadata={})
        for shard, header in shards.items()
    }
    return replace(model, headers=facts.Headers(tensors=tensors, files=files))


def branching(class_name: str) -> tuple[str, ...]:
    """The releases whose gate has a branch for the class."""
    return tuple(name for name in releases.known() if class_name in releases.load(name).branches)


def ask(model: Model, names: Sequence[str], targets: Sequence[Target] = _SERVED) -> tuple[Acceptance, ...]:
    """What each of the releases does with the model's own layers, at the best of the targets."""
    return tuple(_best(model, name, targets) for name in names)


def _best(model: Model, name: str, targets: Sequence[Target]) -> Acceptance:
    answers = [_answer(model, name, target) for target in targets]
    return next((answer for answer in answers if answer.accepts), answers[0])


def _answer(model: Model, name: str, target: Target) -> Acceptance:
    heads = model.text.optional_integer("num_attention_heads")
    if heads is not None and heads % target.tp:  # config/model.py:1559 at 0.33.0
        why = f"Total number of attention heads ({heads}) must be divisible by tensor parallel size ({target.tp})."
        return Acceptance(release=name, accepts=False, why=f"ValueError: {why}")
    return _acceptance(check(model, replace(target, vllm=name)), name)


def _acceptance(report: Report, name: str) -> Acceptance:
    """A release that fuses, and then fails or computes what is wrong, does not accept the checkpoint."""
    ruin = _ruin(report)
    if report.verdict == "fuses" and ruin is None:
        return Acceptance(release=name, accepts=True, why="")
    return Acceptance(release=name, accepts=False, why=_why(report, ruin))


def _ruin(report: Report) -> str | None:
    """The first error of the target that a server does not survive, or that its answers do not."""
    return next(
        (
            finding.message
            for finding in report.findings
            if finding.severity == "error" and finding.consequence in RUINOUS and finding.part != "draft"
        ),
        None,
    )


def _why(report: Report, ruin: str | None) -> str:
    if report.undecided_reason is not None:
        return report.undecided_reason
    if report.startup_error is not None:
        return f"{report.startup_error.type}: {report.startup_error.message}"
    for layer in report.layers:
        if layer.decision.error is not None:
            return f"{layer.decision.error.type}: {layer.decision.error.message}"
        if layer.decision.decision == "separate" and layer.part == "target":
            return layer.decision.reason or "its class does not fuse"
    return ruin or "no layer has shared experts beside routed ones"


@dataclass(frozen=True, kw_only=True)
class Names:
    """What a family says of the model: the shared experts of each layer, and how the release renames modules."""

    slots: Mapping[int, int]
    rename: Rename


def names_of(model: Model) -> Names:
    """InputError or Undecided where the architecture is not known."""
    architecture = model.require_architecture()
    family = families().get(architecture)
    if family is None:
        raise InputError("architectures", f"expected one that is known, got {architecture}")
    parts = family.parts(model, Target(gfx="gfx950"), releases.load("latest"))
    layers = [layer for part in parts for layer in part.layers]

    def rename(name: str) -> str:
        for one in parts[0].renames:
            name = one(name)
        return name

    # The target's layers come first, and count where a draft's have the same numbers.
    return Names(slots={layer.index: layer.slots for layer in reversed(layers)}, rename=rename)
