"""What one release has that the one before it had not, told from their whole data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fse_core.releases.release import Release


@dataclass(frozen=True, kw_only=True)
class Delta:
    """A named set of things, with what joined and what left it."""

    name: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


def deltas(before: Release | None, after: Release) -> Iterator[Delta]:
    """What differs, set by set; all of it where there is none before."""
    old = {} if before is None else _sets(before)
    for name, members in _sets(after).items():
        was = old.get(name, ())
        added = tuple(member for member in members if member not in was)
        removed = tuple(member for member in was if member not in members)
        if added or removed:
            yield Delta(name=name, added=added, removed=removed)


def _sets(release: Release) -> Mapping[str, tuple[str, ...]]:
    return {
        "classes that fuse": tuple(sorted(release.wired)),
        "questions of the gate": release.branches,
        "questions of single classes": tuple(
            f"{question} ({', '.join(sorted(classes))})" for question, classes in sorted(release.own_branches.items())
        ),
        "defaults": tuple(f"{name}={value}" for name, value in release.environment.items()),
        "GPUs with AITER": tuple(sorted(release.fusing_gfx)),
        "quantization methods on ROCm": tuple(sorted(release.supported)),
        "deprecated quantization methods": tuple(sorted(release.deprecated)),
        "readers of quantization methods": tuple(f"{method} by {reader}" for method, reader in release.methods.items()),
        "algorithms of ModelOpt": release.modelopt_algorithms,
        **{f"{kind} of --quantization-config": names for kind, names in release.overlay.items()},
        "MoE backends": release.choices.get("moe_backend", ()),
        "all2all backends": release.choices.get("all2all_backend", ()),
    }
