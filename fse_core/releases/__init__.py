"""What is particular to each vLLM release: one TOML file a release, which states what it changed."""

import functools
import os
from typing import Any

from fse_core.errors import InputError
from fse_core.releases.inherit import on_top
from fse_core.releases.release import Release
from fse_core.releases.version import Version, parsed

_FOLDER = os.path.dirname(__file__)


@functools.cache
def known() -> tuple[str, ...]:
    """The releases that are known, the newest last."""
    names = (name.removesuffix(".toml") for name in os.listdir(_FOLDER) if name[0].isdigit() and name.endswith(".toml"))
    return tuple(sorted(names, key=lambda name: parsed(name).numbers))


@functools.cache
def load(version: str) -> Release:
    """The release that answers for `version`; see `resolve`."""
    name = resolve(version)
    return Release.from_data(name, _data(name))


def resolve(version: str) -> str:
    """The known release that answers for `version`, which need not be known itself.

    `latest` is the newest, and answers for what is newer still. A local suffix (`0.33.0+rocm721`) says nothing. What
    lies between two known releases, as patch releases and nightlies do, is answered by the one before it.
    InputError where it is no version, or older than all that are known.
    """
    if version == "latest":
        return known()[-1]
    asked = parsed(version)
    if asked.name in known():
        return asked.name
    older = [name for name in known() if parsed(name).numbers <= asked.numbers]
    if not older:
        raise InputError("--vllm", f"vLLM {version} is not known: it is older than {known()[0]}, the oldest that is")
    return older[-1]


def is_known(version: str) -> bool:
    """Whether `version` is one of the known releases itself, by whatever spelling."""
    return version == "latest" or (parsed(version).name in known() and not parsed(version).unreleased)


@functools.cache
def _data(name: str) -> dict[str, Any]:
    import tomllib  # costs more than all of this package's own imports

    with open(os.path.join(_FOLDER, f"{name}.toml"), "rb") as file:
        delta = tomllib.load(file)
    base = delta.get("inherits")
    try:
        return on_top(None if base is None else _data(base), delta)
    except ValueError as error:
        raise ValueError(f"{name}.toml: {error}") from None


__all__ = ["Release", "Version", "is_known", "known", "load", "parsed", "resolve"]
