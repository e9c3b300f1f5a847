"""Small configs of every family, written from facts: real in shape, cut to a few layers."""

import copy
import functools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from conformance.home import PACKAGE

FOLDER = PACKAGE / "seeds"


@functools.cache
def names() -> tuple[str, ...]:
    """The names of all seeds."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.json")))


@functools.cache
def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return content


def seed(name: str) -> dict[str, Any]:
    """A config of one's own to change."""
    return copy.deepcopy(_read(name))


def changed(config: dict[str, Any], changes: Mapping[str, Any], dropped: Iterable[str] = ()) -> dict[str, Any]:
    """`config` with values set and keys left out; a key is a path of names joined by dots."""
    for path, value in changes.items():
        owner, key = _owner(config, path)
        owner[key] = value
    for path in dropped:
        owner, key = _owner(config, path)
        owner.pop(key, None)
    return config


def _owner(config: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    *parents, key = path.split(".")
    for parent in parents:
        config = config.setdefault(parent, {})
    return config, key
