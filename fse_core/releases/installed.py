"""Which known release an installed vLLM is, by the functions on which our answers rest, whatever it calls itself."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fse_core.errors import InputError
from fse_core.releases.fingerprint import fingerprints
from fse_core.releases.release import Release

_PARTS = ("model_executor", "engine")
"""Folders that every vLLM package has."""
_LARGEST = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Installed:
    """What was found in `folder`, which calls itself `version` (None where it does not say).

    kind: the functions are those of `releases`; or closest to those of `releases`, of which `differing` read
    otherwise or are not there; or none of them is as any known release has it.
    compared: how many functions the releases named have.
    """

    folder: str
    version: str | None
    kind: Literal["identical", "closest", "unknown"]
    releases: tuple[str, ...] = ()
    compared: int = 0
    differing: tuple[str, ...] = ()
    absent: frozenset[str] = frozenset()


def identify(folder: str, releases: Iterable[Release]) -> Installed:
    """Compares the package in `folder` with the releases, the oldest first. InputError where it is no vLLM package."""
    package = _package(folder)
    known = [release for release in releases if release.functions]
    try:
        found = fingerprints(package, {name for release in known for name in release.functions})
        version = _version(package)
    except OSError as error:
        raise InputError(error.filename or package, f"cannot be read: {error.strerror or error}") from None
    except (RecursionError, MemoryError):
        raise InputError(package, "holds code that is nested too deeply to be parsed") from None
    best, differing = _best(known, found)
    if len(differing) == len(best.functions):
        return Installed(folder=package, version=version, kind="unknown")
    return Installed(
        folder=package,
        version=version,
        kind="closest" if differing else "identical",
        releases=tuple(release.version for release in known if release.functions == best.functions),
        compared=len(best.functions),
        differing=differing,
        absent=frozenset(differing) - found.keys(),
    )


def _best(known: Sequence[Release], found: Mapping[str, str]) -> tuple[Release, tuple[str, ...]]:
    """The release with the smallest share of functions that differ, and those; of equals the one that tells most."""

    def differing(release: Release) -> tuple[str, ...]:
        return tuple(name for name, digest in release.functions.items() if found.get(name) != digest)

    def rank(release: Release) -> tuple[float, int]:
        count = len(release.functions)
        return len(differing(release)) / count, -count

    best = min(reversed(known), key=rank)
    return best, differing(best)


def _package(folder: str) -> str:
    """The package itself, which may be given by the folder around it: site-packages, or a checkout."""
    for place in (folder, os.path.join(folder, "vllm")):
        if all(os.path.isdir(os.path.join(place, part)) for part in _PARTS):
            return place
    what = "is no vLLM package" if os.path.isdir(folder) else "no such folder"
    raise InputError(folder, f"{what}; give the folder vllm of an installation, such as .../site-packages/vllm")


def _version(package: str) -> str | None:
    """What the package calls itself in the file that its build writes."""
    path = os.path.join(package, "_version.py")
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        text = file.read(_LARGEST).decode("utf-8", "replace")
    match = re.search(r"^(?:__version__ = )?version = (['\"])([\w.+!-]{1,100})\1", text, re.MULTILINE | re.ASCII)
    return None if match is None else match[2]
