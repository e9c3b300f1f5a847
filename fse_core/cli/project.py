"""What the settings and the command line say together: the targets to check for, and the policy for what is found."""

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fse_core.cli import options
from fse_core.cli.usage import Usage, checked
from fse_core.errors import InputError
from fse_core.target import Target

if TYPE_CHECKING:
    from fse_core.policy import Policy
    from fse_core.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Project:
    """The targets by their names (None for one that the settings do not name), the policy, the least severity."""

    targets: tuple[tuple[str | None, Target], ...]
    policy: "Policy | None"
    fail_on: str


def add_settings(group: argparse._ArgumentGroup) -> None:
    """Which settings hold, and what is said otherwise for this run."""
    group.add_argument("--config", metavar="FILE", help="the settings (default: the nearest fse.toml, or [tool.fse])")
    group.add_argument("--no-config", action="store_true", help="without any settings")
    group.add_argument("--target", action="append", metavar="NAME", help="these of the settings' targets alone")
    group.add_argument("--select", action="append", metavar="RULES", help="these rules alone, with commas between")
    group.add_argument("--ignore", action="append", metavar="RULES", help="without these rules")


def project(args: argparse.Namespace) -> Project:
    """What holds for this run. Usage where either says what it may not."""
    with checked():
        settings = None if args.no_config else _settings(args.config)
        selected, ignored = _rules("--select", args.select), _rules("--ignore", args.ignore)
        given = options.given(args, "vllm", "gfx")
    if args.no_config and args.config is not None:
        raise Usage("--config and --no-config exclude each other")
    fail_on: str = args.fail_on or (settings.fail_on if settings else None) or "error"
    targets = _targets(settings.targets if settings else {}, args.target, given)
    for name, target in targets:
        _require(name, target, settings)
    return Project(targets=targets, policy=_policy(settings, selected, ignored), fail_on=fail_on)


def _require(name: str | None, target: Target, settings: "Settings | None") -> None:
    """Usage where no release answers for the target, or its release does not take one of its options."""
    try:
        options.require(target)
    except InputError as error:
        of = f"{settings.file}: targets.{name}: " if settings is not None and name is not None else ""
        raise Usage(f"{of}{error}") from None


def _settings(file: str | None) -> "Settings | None":
    from fse_core.settings.find import find, read

    found = read(file) if file is not None else find(os.getcwd())
    if found is None:
        if file is not None:
            raise InputError(file, "has no table tool.fse")
        return None
    from fse_core.rules.texts import ids, resolve
    from fse_core.settings.load import settings

    known = ids()
    return settings(found, lambda name, where: resolve(name, known, where))


def _rules(option: str, given: list[str] | None) -> frozenset[str]:
    if not given:
        return frozenset()
    from fse_core.rules.texts import ids, resolve

    known = ids()
    names = (name.strip() for text in given for name in text.split(","))
    return frozenset(resolve(name, known, option) for name in names if name)


def _policy(settings: "Settings | None", selected: frozenset[str], ignored: frozenset[str]) -> "Policy | None":
    if settings is None and not selected and not ignored:
        return None
    from fse_core.policy import Policy
    from fse_core.settings import Settings

    settings = settings or Settings()
    return Policy(settings=settings, select=selected or frozenset(settings.select), ignore=ignored)


def _targets(
    named: Mapping[str, Mapping[str, Any]], chosen: list[str] | None, given: Mapping[str, Any]
) -> tuple[tuple[str | None, Target], ...]:
    """The settings' targets, or those chosen, each with what the command line says otherwise."""
    for name in chosen or ():
        if name not in named:
            known = f"known are {', '.join(named)}" if named else "the settings name none"
            raise Usage(f"--target {name}: no such target; {known}")
    kept = {name: fields for name, fields in named.items() if not chosen or name in chosen}
    found = [(name, Target(**{**fields, **given})) for name, fields in kept.items()]
    return tuple(found) or ((None, Target(**given)),)
