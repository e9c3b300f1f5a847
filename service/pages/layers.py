"""All layers of a model as a page shows them: a strip in order, and one answer for each group that shares it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

from fse_core import releases
from fse_core.families import families
from fse_core.grouping import Group, among, groups, numbers
from fse_core.report import RUINOUS, Decision, Failure, Layer, PartName
from service.pages import explain
from service.pages.explain import Explanation

State = Literal["fused", "risky", "breaks", "futile", "separate", "error", "undecided", "none"]

WORDS: Mapping[State, str] = {
    "fused": "fused",
    "risky": "fused, at risk",
    "breaks": "breaks",
    "futile": "fused, in vain",
    "separate": "separate",
    "error": "error",
    "undecided": "undecided",
    "none": "no shared expert",
}
FUSED: tuple[State, ...] = ("fused", "risky", "breaks", "futile")
"""What vLLM decides to fuse, soundly or not."""


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

    def count(self, *states: State, part: PartName = "target") -> int:
        return sum(answer.count for answer in self.answers if answer.state in states and answer.part == part)


def layers_of(report: Mapping[str, Any]) -> Layers:
    """The layers of an `fse.report/1` object."""
    every = tuple((layer, _state(layer, report)) for layer in map(_layer, report["layers"]))
    states = {layer.prefix: state for layer, state in every}
    found = _groups(every)
    answers = [_answer(f"answer-{n}", group, states[group.first.prefix], report) for n, group in enumerate(found, 1)]
    answers = [replace(answer, like=_like(answer, answers[:place])) for place, answer in enumerate(answers)]
    anchors = {layer.prefix: answer.id for group, answer in zip(found, answers, strict=True) for layer in group.layers}
    rest = _others(report, {layer.index for layer, _ in every if layer.part == "target"})
    if rest:
        answers.append(_nothing(rest))
    return Layers(answers=tuple(answers), runs=tuple(_runs(every, anchors, rest)), every=every)


def _groups(every: tuple[tuple[Layer, State], ...]) -> list[Group]:
    """Layers that share answer and state, each group where its first layer stands."""
    order = {layer.prefix: place for place, (layer, _) in enumerate(every)}
    found = [group for wanted in WORDS for group in groups(layer for layer, state in every if state == wanted)]
    return sorted(found, key=lambda group: order[group.first.prefix])


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


def _state(layer: Layer, report: Mapping[str, Any]) -> State:
    """The decision, told apart by whether what is fused goes wrong, surely or likely, or all of the model does."""
    if layer.decision.decision != "fused":
        return layer.decision.decision
    if report["verdict"] == "fails":
        return "futile"
    ruinous = [finding for finding in report["findings"] if _ruins(finding, layer)]
    if any(finding["confidence"] == "certain" for finding in ruinous):
        return "breaks"
    if ruinous:
        return "risky"
    return "futile" if report["verdict"] == "breaks" else "fused"


def _ruins(finding: Mapping[str, Any], layer: Layer) -> bool:
    """Whether the finding, about this layer or about no layer but the whole, says that what is fused goes wrong."""
    about = not finding["layers"] or (finding["part"] == layer.part and among(finding["layers"], layer.index))
    return about and finding["severity"] == "error" and finding["consequence"] in RUINOUS


def _others(report: Mapping[str, Any], taken: set[int]) -> list[int]:
    """The layers of the target that the report does not list: they have no shared expert beside routed ones."""
    if report["verdict"] == "undecided" and not taken:
        return []
    return [index for index in range(min(report["model"]["layers"] or 0, 8192)) if index not in taken]


def title_of(part: PartName, indices: list[int]) -> str:
    """The heading of these layers, as in prose."""
    return title_words(part, numbers(indices))


def title_words(part: PartName | None, layers: str) -> str:
    """The same of layers that are already written as ranges."""
    kind = "Draft layer" if part == "draft" else "Layer"
    ranges = layers.replace("-", "\N{EN DASH}")
    return f"{kind}{'' if layers.isdigit() else 's'} {ranges}"


def _answer(id: str, group: Group, state: State, report: Mapping[str, Any]) -> Answer:
    first = group.first
    decision = first.decision
    quoted = f"{decision.error.type}: {decision.error.message}" if decision.error else decision.reason
    return Answer(
        id=id,
        state=state,
        part=first.part,
        title=title_of(first.part, group.indices),
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
        title=title_of("target", indices),
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
        label = f"{title_of(part, indices)}: {WORDS[state]}"
        yield Run(label=label, state=state, part=part, anchor=anchor, indices=tuple(indices))
