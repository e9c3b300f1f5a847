"""All layers of a model as a page shows them: a strip in order, and one answer for each group that shares it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

from fse_core import releases
from fse_core.families import families
from fse_core.output.words.layers import Group, groups, numbers
from fse_core.report import Decision, Failure, Layer, PartName
from service.pages import explain
from service.pages.explain import Explanation

State = Literal["fused", "separate", "error", "breaks", "undecided", "none"]

WORDS: Mapping[State, str] = {
    "fused": "fused",
    "separate": "separate",
    "error": "error",
    "breaks": "breaks",
    "undecided": "undecided",
    "none": "no shared expert",
}
_ANSWERED_BY_FINDING = ("load_fails", "silent_corruption")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Layers with one answer. `quoted` are the release's words, None where it has none.

    `like` is an earlier answer that means the same: a draft's layers are often treated as the target's are.
    """

    id: str
    state: State
    part: PartName
    title: str
    count: int
    slots: int
    mode: str
    quoted: str | None
    alike: bool
    explanation: Explanation
    like: "Answer | None" = None

    @property
    def word(self) -> str:
        return WORDS[self.state]


@dataclass(frozen=True, kw_only=True)
class Run:
    """Neighbouring layers with one answer: what a screen reader reads, and the numbers of the cells."""

    label: str
    state: State
    part: PartName
    anchor: str
    indices: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Layers:
    """What the page shows of the layers."""

    answers: tuple[Answer, ...]
    runs: tuple[Run, ...]
    every: tuple[tuple[Layer, State], ...]

    def count(self, state: State, part: PartName = "target") -> int:
        return sum(answer.count for answer in self.answers if (answer.state, answer.part) == (state, part))


def layers_of(report: Mapping[str, Any]) -> Layers:
    """The layers of an `fse.report/1` object."""
    bad = {f["rule"] for f in report["findings"] if f["consequence"] in _ANSWERED_BY_FINDING}
    every = tuple((layer, _state(layer, bad)) for layer in map(_layer, report["layers"]))
    states = {layer.prefix: state for layer, state in every}
    found = groups(layer for layer, _ in every)
    answers = [_answer(f"answer-{n}", group, states[group.first.prefix], report) for n, group in enumerate(found, 1)]
    answers = [replace(answer, like=_like(answer, answers[:place])) for place, answer in enumerate(answers)]
    anchors = {layer.prefix: answer.id for group, answer in zip(found, answers, strict=True) for layer in group.layers}
    rest = _others(report, {layer.index for layer, _ in every if layer.part == "target"})
    if rest:
        answers.append(_nothing(rest))
    return Layers(answers=tuple(answers), runs=tuple(_runs(every, anchors, rest)), every=every)


def _like(answer: Answer, before: list[Answer]) -> Answer | None:
    alike = (other for other in before if (other.state, other.explanation) == (answer.state, answer.explanation))
    return next(alike, None)


def _layer(data: Mapping[str, Any]) -> Layer:
    error = None if data["error"] is None else Failure(**data["error"])
    kept = ("index", "part", "prefix", "experts", "shared", "slots", "mode")
    return Layer(
        **{key: data[key] for key in kept},
        findings=tuple(data["findings"]),
        decision=Decision(decision=data["decision"], reason=data["reason"], error=error),
    )


def _state(layer: Layer, bad: set[str]) -> State:
    if layer.decision.decision == "fused" and bad.intersection(layer.findings):
        return "breaks"
    return layer.decision.decision


def _others(report: Mapping[str, Any], taken: set[int]) -> list[int]:
    """The layers of the target that the report does not list: they have no shared expert beside routed ones."""
    if report["verdict"] == "undecided" and not taken:
        return []
    return [index for index in range(min(report["model"]["layers"] or 0, 8192)) if index not in taken]


def _title(part: PartName, indices: list[int]) -> str:
    kind = "Draft layer" if part == "draft" else "Layer"
    ranges = numbers(indices).replace("-", "\N{EN DASH}")
    return f"{kind}{'' if len(indices) == 1 else 's'} {ranges}"


def _answer(id: str, group: Group, state: State, report: Mapping[str, Any]) -> Answer:
    first = group.first
    decision = first.decision
    quoted = f"{decision.error.type}: {decision.error.message}" if decision.error else decision.reason
    return Answer(
        id=id,
        state=state,
        part=first.part,
        title=_title(first.part, group.indices),
        count=len(group.layers),
        slots=first.slots,
        mode=first.mode,
        quoted=quoted,
        alike=group.alike,
        explanation=_explanation(first, state, report),
    )


def _explanation(layer: Layer, state: State, report: Mapping[str, Any]) -> Explanation:
    version, decision = report["target"]["vllm"], layer.decision
    if decision.error is not None:
        return explain.error(decision.error.type, decision.error.message, version)
    if decision.reason is not None:
        return explain.reason(decision.reason, version)
    if state == "undecided":
        stopped = report["startup_error"] or any(other["error"] for other in report["layers"])
        return explain.silent("not_reached" if stopped else "undecided")
    return _unsaid(report) if state == "separate" else explain.silent(state)


def _unsaid(report: Mapping[str, Any]) -> Explanation:
    """Why a layer is separate where the release gives no reason."""
    architecture = report["model"]["architecture"] or ""
    family = families().get(architecture)
    wired = releases.load(report["target"]["vllm"]).wired
    if family is None or family.architectures[architecture] not in wired:
        return explain.silent("not_wired", architecture=architecture)
    if not report["requested"]:
        return explain.silent("not_requested", requested_reason=report["requested_reason"] or "")
    return explain.silent("split" if report["target"]["ep"] else "class_silent")


def _nothing(indices: list[int]) -> Answer:
    return Answer(
        id="answer-none",
        state="none",
        part="target",
        title=_title("target", indices),
        count=len(indices),
        slots=0,
        mode="",
        quoted=None,
        alike=False,
        explanation=explain.silent("no_shared"),
    )


def _runs(every: tuple[tuple[Layer, State], ...], anchors: Mapping[str, str], rest: list[int]) -> Iterator[Run]:
    cells = [(layer.part == "draft", layer.index, state, anchors[layer.prefix]) for layer, state in every]
    cells += [(False, index, "none", "answer-none") for index in rest]
    cells.sort(key=lambda cell: cell[:2])
    for (draft, state, anchor), run in groupby(cells, key=lambda cell: (cell[0], cell[2], cell[3])):
        indices = [cell[1] for cell in run]
        part: PartName = "draft" if draft else "target"
        label = f"{_title(part, indices)}: {WORDS[state]}"
        yield Run(label=label, state=state, part=part, anchor=anchor, indices=tuple(indices))
