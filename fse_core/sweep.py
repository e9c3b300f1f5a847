"""One model asked of many releases and GPUs."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from fse_core import releases
from fse_core.check import check
from fse_core.errors import InputError
from fse_core.matrix import Answer, Matrix, matrix
from fse_core.releases import Release
from fse_core.target import Target

if TYPE_CHECKING:
    from fse_core.read.model import Model

GPUS = ("gfx942", "gfx950")
"""What a matrix shows unless told otherwise."""

_DECIDES_NOTHING = ("version", "inherits", "changes", "functions")
_ASKED_APART = ("choices", "architectures")
"""What `require` looks at, and of what only the model's own architectures count."""


def sweep(model: "Model", target: Target, versions: Sequence[str] | None = None, gpus: Sequence[str] = GPUS) -> Matrix:
    """The model on each of the releases (all that are known, unless given) and GPUs, otherwise served as `target` says.

    A release that does not take an option of the target has cells that say so; InputError where none takes it, or
    where one of `versions` is none.
    """
    named = releases.known() if versions is None else in_order(versions)
    answers = [answer for gfx in gpus for answer in _answers(model, replace(target, gfx=gfx), named)]
    if all(answer.report is None for answer in answers):
        releases.load(named[-1]).require(target)  # raises, in its own words
    return matrix(answers, releases.known())


def in_order(versions: Sequence[str]) -> tuple[str, ...]:
    """Each version once, the oldest first, a known one by its usual name. InputError where one is none."""
    names = {releases.resolve(version) if releases.is_known(version) else version for version in versions}
    for name in names:
        releases.resolve(name)
    return tuple(sorted(names, key=lambda name: (releases.parsed(name).numbers, name)))


def _answers(model: "Model", target: Target, versions: Sequence[str]) -> Iterator[Answer]:
    """The answers of the releases on the target's GPU. A release that is as the one before it is not asked again."""
    before: tuple[Release, Answer] | None = None
    for version in versions:
        release = releases.load(version)
        known = releases.is_known(version)
        # The plugin does not do in all releases what it does in some.
        alike = before is not None and known and not target.plugin and _alike(before[0], release, model)
        if before is not None and alike and _takes(release, target):
            yield replace(before[1], vllm=version, answered_by=release.version)
            continue
        answer = _asked(model, replace(target, vllm=version), release)
        before = (release, answer) if known and answer.report is not None else None
        yield answer


def _asked(model: "Model", target: Target, release: Release) -> Answer:
    try:
        report = check(model, target)
    except InputError as error:
        refused = _refused(error, target)
        return Answer(vllm=target.vllm, answered_by=release.version, gfx=target.gfx, refused=refused)
    return Answer(vllm=target.vllm, answered_by=release.version, gfx=target.gfx, report=report)


def _alike(one: Release, other: Release, model: "Model") -> bool:
    """Whether the two cannot but decide the same about the model."""
    passed_over = _DECIDES_NOTHING + _ASKED_APART
    names = (field.name for field in fields(Release) if field.name not in passed_over)
    if any(getattr(one, name) != getattr(other, name) for name in names):
        return False
    try:
        architectures = set(model.config.strings("architectures", []))
    except InputError:  # which is all that either would say
        return True
    return architectures & one.architectures == architectures & other.architectures


def _takes(release: Release, target: Target) -> bool:
    try:
        release.require(target)
    except InputError:
        return False
    return True


def _refused(error: InputError, target: Target) -> str:
    """An option that the release does not take. Without what it takes instead, which is long and ever another list."""
    value = getattr(target, error.path.lstrip("-").replace("-", "_"))
    return f"this release does not take {error.path} {value}"
