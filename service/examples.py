"""The shipped models: the facts that decide, which need no network."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fse_core import releases
from fse_core.errors import InputError
from fse_core.read.source import read_model
from fse_core.target import Target
from service.logs import log


@dataclass(frozen=True, kw_only=True)
class Example:
    """A shipped model and the target that it is shown for. `made_up`: no published checkpoint has this block."""

    name: str
    folder: Path
    target: Target
    made_up: bool

    def model(self) -> Any:
        """The model, as the core reads it."""
        return read_model(str(self.folder.resolve()))

    def target_for(self, asked: Target, *, named: bool) -> Target:
        """What an address means that reads as `asked`, and names parameters or none: without any, its own target.

        With any, even one that only says what is usual, the rest are the defaults that hold for every model.
        """
        return asked if named else self.target


def load(folder: Path) -> Mapping[str, Example]:
    """All examples by name. One that cannot be read is left out, and the log says so."""
    found: dict[str, Example] = {}
    for config in sorted(folder.glob("*--*/config.json")):
        try:
            example = _read(config.parent)
            example.model()
        except (InputError, OSError, ValueError, TypeError) as error:
            log.error("example left out", folder=config.parent.name, cause=str(error))
            continue
        found[example.name] = example
    return found


def _read(folder: Path) -> Example:
    path = folder / "target.json"
    target = Target(**json.loads(path.read_bytes())) if path.exists() else Target()
    return Example(
        name=folder.name.replace("--", "/", 1),
        folder=folder,
        # The release by its number: an address must mean the same tomorrow.
        target=replace(target, vllm=releases.load(target.vllm).version),
        made_up=folder.name.startswith("example--"),
    )
