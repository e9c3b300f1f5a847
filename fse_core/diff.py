"""Two reports of one model compared: which layers get another answer, and whether the second is worse.

Reports go in; the engine is not known here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fse_core.grouping import among, answer, words
from fse_core.report import RUINOUS, Finding, Layer, PartName, Report
from fse_core.wording import nameless

State = Literal["fused", "broken", "futile", "separate", "error", "undecided", "absent"]
Outcome = Literal["same", "better", "worse", "different", "undecided"]

_BAD = ("breaks", "fails")

_NOW: Mapping[State, str] = {
    "fused": "fused",
    "broken": "fused, and it goes wrong",
    "futile": "fused, but the start fails",
    "separate": "not fused",
    "error": "an error",
    "undecided": "not reached",
    "absent": "not there",
}
_CHANGED: Mapping[tuple[State, State], str] = {
    ("fused", "separate"): "no longer fused",
    ("fused", "broken"): "still fused, but now it goes wrong",
    ("fused", "futile"): "still fused, but now the start fails",
    ("futile", "fused"): "still fused, and now the start succeeds",
    ("fused", "error"): "no longer fused: the start ends here",
    ("fused", "undecided"): "no longer fused: the start ends before these layers",
    ("separate", "fused"): "now fused",
    ("separate", "broken"): "now fused, and it goes wrong",
    ("separate", "error"): "the start now ends here",
    ("separate", "undecided"): "the start now ends before these layers",
    ("broken", "fused"): "still fused, and now rightly",
    ("broken", "separate"): "no longer fused, which went wrong",
}
_SAME_STATE: Mapping[State, str] = {
    "fused": "fused in another way",
    "separate": "still not fused, in other words",
    "error": "still an error, in other words",
}


@dataclass(frozen=True, kw_only=True)
class Change:
    """Layers of one part that have the same two answers. One of `old` and `new` may be None: not there.

    The two are the first layer's; `alike` tells that others differ in nothing but their number.
    """

    part: PartName
    indices: tuple[int, ...]
    old: Layer | None
    new: Layer | None
    before: State
    after: State
    changed: bool
    alike: bool

    @property
    def worse(self) -> bool:
        """They fused soundly, and no longer do."""
        return self.before == "fused" and self.after != "fused"

    @property
    def better(self) -> bool:
        """They fuse soundly, and did not."""
        return self.after == "fused" and self.before != "fused"

    @property
    def words(self) -> str:
        """What happens to them, in plain words."""
        if not self.changed:
            return f"{_NOW[self.after]}, as before"
        if self.before == self.after:
            return _SAME_STATE.get(self.after, f"{_NOW[self.after]}, otherwise than before")
        return _CHANGED.get((self.before, self.after), f"now {_NOW[self.after]}; before: {_NOW[self.before]}")


@dataclass(frozen=True, kw_only=True)
class Step:
    """A release with which the answer changes, and what it is known to have changed."""

    vllm: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Diff:
    """Two reports and how one comes to the other.

    appeared, gone: findings that only the new or only the old report has.
    steps: the releases from the older to the newer one with which the answer changes; `back` where the old report's
        release is the newer one, so that the steps are taken back.
    out_of_time: as in a report, one of the answers hangs on how busy the machine was.
    """

    old: Report
    new: Report
    changes: tuple[Change, ...]
    appeared: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    steps: tuple[Step, ...] = ()
    back: bool = False
    out_of_time: bool = False

    @property
    def outcome(self) -> Outcome:
        """The second report beside the first, in one word."""
        if "undecided" in (self.old.verdict, self.new.verdict):
            return "undecided"
        if _fails_anew(self.old, self.new) or any(change.worse for change in self.changes):
            return "worse"
        if _fails_anew(self.new, self.old) or any(change.better for change in self.changes):
            return "better"
        same = self.old.verdict == self.new.verdict and self.old.startup_error == self.new.startup_error
        unchanged = not self.appeared and not self.gone and not any(change.changed for change in self.changes)
        return "same" if same and unchanged else "different"


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """One layer's two answers."""

    part: PartName
    index: int
    old: Layer | None
    new: Layer | None


def _fails_anew(old: Report, new: Report) -> bool:
    """Whether the new report tells of a failure where the old one tells of none, be it the draft's alone."""
    if new.verdict in _BAD:
        return old.verdict not in _BAD
    return _stops(new) and not _stops(old) and old.verdict not in _BAD


def _stops(report: Report) -> bool:
    return report.startup_error is not None or any(layer.decision.error is not None for layer in report.layers)


def diff(old: Report, new: Report, *, steps: Iterable[Step] = (), back: bool = False) -> Diff:
    """Compares two reports of one model."""
    return Diff(
        old=old,
        new=new,
        changes=tuple(_changes(old, new)),
        appeared=_only(new, old),
        gone=_only(old, new),
        steps=tuple(steps),
        back=back,
        out_of_time=old.out_of_time or new.out_of_time,
    )


def _only(report: Report, other: Report) -> tuple[Finding, ...]:
    """The findings of one report that the other has not, but for those that are merely worth knowing."""
    seen = {_identity(finding, other) for finding in other.findings}
    return tuple(
        finding for finding in report.findings if finding.severity != "info" and _identity(finding, report) not in seen
    )


def _identity(finding: Finding, report: Report) -> tuple[object, ...]:
    """What makes it the same one on another release, where its evidence and fixes may be told otherwise."""
    return (finding.rule, nameless(finding.message, report), finding.part, finding.layers)


def _changes(old: Report, new: Report) -> Iterator[Change]:
    pairs: dict[tuple[object, ...], list[_Pair]] = {}
    for pair in _paired(old.layers, new.layers):
        pairs.setdefault((pair.part, _key(pair.old, old), _key(pair.new, new)), []).append(pair)
    for (_, was, now), members in pairs.items():
        first = members[0]
        yield Change(
            part=first.part,
            indices=tuple(pair.index for pair in members),
            old=first.old,
            new=first.new,
            before=_state(first.old, old),
            after=_state(first.new, new),
            changed=was != now,
            alike=len({(_words(pair.old), _words(pair.new)) for pair in members}) > 1,
        )


def _words(layer: Layer | None) -> str:
    return "" if layer is None else words(layer)


def _paired(old: Sequence[Layer], new: Sequence[Layer]) -> Iterator[_Pair]:
    """Each layer of either report with the other's: the same part, the same number, as the n-th one of both."""
    mine, its = _numbered(old), _numbered(new)
    for place in (*mine, *(place for place in its if place not in mine)):
        yield _Pair(part=place[0], index=place[1], old=mine.get(place), new=its.get(place))


def _numbered(layers: Sequence[Layer]) -> dict[tuple[PartName, int, int], Layer]:
    found: dict[tuple[PartName, int, int], Layer] = {}
    for layer in layers:
        nth = 0
        while (layer.part, layer.index, nth) in found:
            nth += 1
        found[layer.part, layer.index, nth] = layer
    return found


def _key(layer: Layer | None, report: Report) -> tuple[object, ...]:
    if layer is None:
        return ()
    # What the plugin says names the release.
    said = (nameless(part, report) if isinstance(part, str) else part for part in answer(layer))
    return (*said, _state(layer, report))


def _state(layer: Layer | None, report: Report) -> State:
    """The decision, told apart by whether a fused layer goes wrong."""
    if layer is None:
        return "absent"
    if layer.decision.decision != "fused":
        return layer.decision.decision
    if report.verdict == "fails":
        return "futile"
    return "broken" if any(_ruins(finding, layer) for finding in report.findings) else "fused"


def _ruins(finding: Finding, layer: Layer) -> bool:
    """Whether the finding, about this layer or about no layer but the whole, says that what is fused goes wrong."""
    about = not finding.layers or (finding.part == layer.part and among(finding.layers, layer.index))
    return about and finding.severity == "error" and finding.consequence in RUINOUS
