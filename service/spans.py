"""Questions about many releases, as an address asks them: a matrix, and what another release changes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from fse_core import releases
from fse_core.errors import InputError
from fse_core.sweep import GPUS, in_order
from fse_core.target import Target
from service import targets
from service.examples import Example
from service.questions import Sweep, Upgrade

Q = TypeVar("Q", Sweep, Upgrade)
Pairs = Sequence[tuple[str, str]]

MOST_RELEASES: Final = 64
MOST_GPUS: Final = 4
_OF_MATRIX: Final = ("vllm", "gfx")
_OF_UPGRADE: Final = ("from", "to")


@dataclass(frozen=True, kw_only=True)
class Asked(Generic[Q]):
    """`exact` is the query that asks the same for ever; `pinned` where the one that was given does so too."""

    question: Q
    exact: list[tuple[str, str]]
    pinned: bool


def matrix(pairs: Pairs, example: Example | None = None, also: Iterable[str] = ()) -> Asked[Sweep]:
    """All releases and the usual GPUs, unless `vllm` (a release, or OLDEST..NEWEST) and `gfx` name some."""
    named = _values(pairs, "vllm")
    versions = in_order([name for text in named for name in _range(text)]) if named else releases.known()
    gpus = tuple(dict.fromkeys(targets.gpu("gfx", text) for text in _values(pairs, "gfx"))) or GPUS
    if len(versions) > MOST_RELEASES or len(gpus) > MOST_GPUS:
        raise InputError("vllm", f"expected at most {MOST_RELEASES} releases and {MOST_GPUS} GPUs")
    target = _target(pairs, _OF_MATRIX, example, also, versions)
    return Asked(
        question=Sweep(target=target, versions=versions, gpus=gpus),
        exact=[("vllm", name) for name in versions] + [("gfx", name) for name in gpus] + rest(target),
        pinned=bool(named) and all(name in releases.known() for name in named),
    )


def upgrade(pairs: Pairs, example: Example | None = None, also: Iterable[str] = ()) -> Asked[Upgrade]:
    """From the release `from` to the release `to`, otherwise served as the rest says."""
    old, new = (_end(pairs, name) for name in _OF_UPGRADE)
    if any(name == "vllm" for name, _ in pairs):
        raise InputError("vllm", "no such parameter; the releases are `from` and `to`")
    target, _ = (_target(pairs, _OF_UPGRADE, example, also, [version]) for version in (new, old))
    return Asked(
        question=Upgrade(target=target, old=old, new=new),
        exact=[("from", old), ("to", new), ("gfx", target.gfx), *rest(target)],
        pinned=all(text in releases.known() for name in _OF_UPGRADE for text in _values(pairs, name)),
    )


def rest(target: Target) -> list[tuple[str, str]]:
    """The target's parameters without release and GPU."""
    return [(name, text) for name, text in targets.to_pairs(target) if name not in _OF_MATRIX]


def _values(pairs: Pairs, name: str) -> list[str]:
    return [text for key, text in pairs if key == name]


def _end(pairs: Pairs, name: str) -> str:
    given = _values(pairs, name)
    if len(given) != 1:
        raise InputError(name, "is given more than once" if given else "expected a release, such as 0.31.0 or latest")
    return targets.release(name, given[0])


def _target(
    pairs: Pairs, own: Sequence[str], example: Example | None, also: Iterable[str], versions: Sequence[str]
) -> Target:
    """How the model is served; a shipped one without parameters as it is shown."""
    also = tuple(also)
    asked = [(name, text) for name, text in pairs if name not in own]
    gpu = [(name, text) for name, text in pairs if name == "gfx"][:1] if "gfx" in own else []
    target = targets.from_query([*asked, *gpu], also, versions)
    if example is None or any(name not in also for name, _ in asked):
        return target
    return replace(example.target, gfx=target.gfx) if gpu else example.target


def _range(text: str) -> Iterator[str]:
    """One release, or all that are known from one to another, either of which may be left out."""
    oldest, dots, newest = text.partition("..")
    if not dots:
        yield targets.release("vllm", text)
        return
    known = releases.known()
    start, end = (_numbers(given) for given in (oldest or known[0], newest or known[-1]))
    between = [name for name in known if start <= _numbers(name) <= end]
    if not between:
        raise InputError("vllm", f"no known release is in {text}; known are {known[0]} to {known[-1]}")
    yield from between


def _numbers(version: str) -> tuple[int, ...]:
    try:
        return releases.parsed(releases.resolve(version) if version == "latest" else version).numbers
    except InputError as error:
        raise InputError("vllm", error.message) from None
