"""The known releases, each with the one before it."""

from collections.abc import Sequence
from dataclasses import dataclass

from fse_core import releases
from fse_core.releases.release import Release


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A release, and the known one before it, None for the first."""

    release: Release
    before: Release | None

    @property
    def joined(self) -> tuple[str, ...]:
        """The classes that fuse here and did not before."""
        return tuple(sorted(self.release.wired - self._wired_before))

    @property
    def left(self) -> tuple[str, ...]:
        """The classes that fused before and do not here."""
        return tuple(sorted(self._wired_before - self.release.wired))

    @property
    def _wired_before(self) -> frozenset[str]:
        return frozenset() if self.before is None else self.before.wired


def history(versions: Sequence[str] | None = None) -> tuple[Entry, ...]:
    """Those of `versions`, or all that are known, the oldest first. InputError where one is no release."""
    names = releases.known() if versions is None else tuple(map(releases.resolve, versions))
    return tuple(_entry(name) for name in releases.known() if name in names)


def _entry(name: str) -> Entry:
    place = releases.known().index(name)
    before = releases.load(releases.known()[place - 1]) if place else None
    return Entry(release=releases.load(name), before=before)
