"""What a project says once for all its checks: `fse.toml`, or `[tool.fse]` in pyproject.toml."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from fse_core.report import Place, Severity


@dataclass(frozen=True, kw_only=True)
class Ignore:
    """A finding that is put up with until a day. `model` is a pattern of sources; None stands for all there are.

    `number` is its own among the file's, from 1; `place` is where it stands.
    """

    rule: str
    reason: str
    until: date
    number: int
    place: Place
    model: str | None = None
    layers: str | None = None
    target: str | None = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the file says. `targets` are the fields of a Target that differ from its defaults, by name.

    `folder` is the one that the file is in, from which models' patterns are read.
    """

    file: str | None = None
    folder: str = "."
    fail_on: str | None = None
    select: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    targets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    ignores: tuple[Ignore, ...] = ()
