"""A model with the headers of its safetensors files: all, or as few as show how each kind of its layers is stored."""

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fse_core.check import check
from fse_core.errors import InputError
from fse_core.read.deadline import within
from fse_core.read.hub_errors import Token
from fse_core.read.model import Model
from fse_core.read.safetensors.collect import Mode, Progress, collect
from fse_core.read.safetensors.facts import Headers
from fse_core.read.safetensors.folder import Folder
from fse_core.read.safetensors.kinds import layer_kinds
from fse_core.read.safetensors.sample import Kinds
from fse_core.read.safetensors.store import Store
from fse_core.target import Target

if TYPE_CHECKING:
    from fse_core.read.safetensors.ranges import Budget

_SECONDS: Final = {"sample": 60.0, "full": 300.0}
_MOST_BYTES: Final = {"sample": 128 * 1024 * 1024, "full": 512 * 1024 * 1024}


def with_headers(
    model: Model,
    mode: Mode,
    targets: Iterable[Target],
    *,
    token: Token = None,
    store: Store | None = None,
    progress: Progress | None = None,
    budget: "Budget | None" = None,
) -> Model:
    """The model with the headers of the files beside its config.json: in its folder, or at its commit on the Hub.

    `budget` is what the Hub may cost: time and bytes. A sample is of the layers' kinds on all targets.
    """
    kinds = _kinds(model, targets) if mode == "sample" else ()
    source = model.source
    if source.kind == "hub":
        spent = usual_budget(mode) if budget is None else budget
        return replace(model, headers=_of_hub(model, mode, kinds, token, store, progress, spent))
    if source.kind == "path" and Path(source.id).is_dir():
        return replace(model, headers=collect(Folder(Path(source.id)), mode, kinds, progress))
    raise InputError("--headers", "expected a folder or a model on the Hub: a config alone has no headers beside it")


def usual_budget(mode: Mode, seconds: float | None = None) -> "Budget":
    """What reading headers may cost, from now on; `seconds` in the place of the usual ones."""
    from fse_core.read.safetensors.ranges import Budget

    return Budget(until=time.monotonic() + (seconds or _SECONDS[mode]), most=_MOST_BYTES[mode])


def _kinds(model: Model, targets: Iterable[Target]) -> Kinds:
    return tuple(kind for target in targets for kind in layer_kinds(check(model, target).layers))


def _of_hub(
    model: Model,
    mode: Mode,
    kinds: Kinds,
    token: Token,
    store: Store | None,
    progress: Progress | None,
    budget: "Budget",
) -> Headers:
    from fse_core.read.hub import asking
    from fse_core.read.safetensors.hub import HubCheckpoint

    source = model.source
    assert source.commit is not None
    asked = asking(source.id, source.revision or source.commit, token)
    place = HubCheckpoint(asked, source.commit, budget, store)
    seconds = max(0.0, budget.until - time.monotonic())
    return within(seconds, lambda: collect(place, mode, kinds, progress), what=source.id)
