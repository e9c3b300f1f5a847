"""One model over releases and GPUs: a cell for each, numbered notes of what is to be said, and since when it holds.

Reports go in; the engine is not known here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from fse_core.grouping import Group, groups, numbers, words_of_any
from fse_core.report import Finding, Layer, PartName, Report, Source, Verdict
from fse_core.wording import nameless

Mark = Literal["y", "n", "breaks", "fails", "n.a.", "-", "unknown"]
Kind = Literal["reason", "no_reason", "error", "finding", "undecided", "not_requested", "option"]

NO_REASON = "the release gives no reason"
NO_CLASS = "has no class of its own for the architecture"
"""What the reason of an undecided report says where the release came before the architecture."""

_MARKS: Mapping[Verdict, Mark] = {
    "fuses": "y",
    "separate": "n",
    "breaks": "breaks",
    "fails": "fails",
    "not_applicable": "n.a.",
    "undecided": "unknown",
}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer for one release and GPU: a report, or why the release cannot be asked so (an option it lacks).

    `vllm` was asked for, `answered_by` is the known release that answers for it. The report may be that of a release
    which decides no differently.
    """

    vllm: str
    answered_by: str
    gfx: str
    report: Report | None = None
    refused: str | None = None


@dataclass(frozen=True, kw_only=True)
class Note:
    """What cells refer to by `number`. `layers` are those of which it is said, empty where it is said of the whole.

    `alike` tells that each layer has its own number in `text`, which shows the first one's.
    """

    kind: Kind
    text: str
    part: PartName = "target"
    layers: str = ""
    alike: bool = False
    number: int = 0


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One release on one GPU: `fused` of `layers` of the target part are fused. No verdict where it cannot be asked.

    `doubtful`: it fuses, and a finding says that something goes wrong, though not surely, or with the draft alone.
    """

    mark: Mark
    verdict: Verdict | None
    notes: tuple[int, ...]
    fused: int = 0
    layers: int = 0
    doubtful: bool = False

    def same(self, other: "Cell") -> bool:
        """Whether a reader would see the same."""
        return (self.mark, self.doubtful, self.notes) == (other.mark, other.doubtful, other.notes)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A release that was asked for, `answered_by` a known one; a cell for each GPU."""

    vllm: str
    answered_by: str
    cells: tuple[Cell, ...]

    def same(self, other: "Row") -> bool:
        """Whether a reader would see the same beside another release's name."""
        return all(mine.same(its) for mine, its in zip(self.cells, other.cells, strict=True))


@dataclass(frozen=True, kw_only=True)
class Band:
    """Rows that follow each other, no release between them, and look the same."""

    rows: tuple[Row, ...]

    @property
    def first(self) -> Row:
        return self.rows[0]

    @property
    def last(self) -> Row:
        return self.rows[-1]


@dataclass(frozen=True, kw_only=True)
class Run:
    """Releases that follow each other and have the same mark on one GPU; `open` where the newest one is among them."""

    mark: Mark
    doubtful: bool
    first: str
    last: str
    open: bool


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """All of it. `options` is the target without release and GPU; `known` are all releases that are known, in order.

    `out_of_time` as in a report: one of its cells hangs on how busy the machine was.
    """

    source: Source
    architecture: str | None
    model_type: str | None
    layer_count: int | None
    options: Mapping[str, Any]
    gpus: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[Note, ...]
    known: tuple[str, ...]
    out_of_time: bool = False

    @property
    def decided(self) -> bool:
        """Whether any cell says what a release does."""
        return any(cell.mark not in ("-", "unknown") for row in self.rows for cell in row.cells)

    def bands(self) -> list[Band]:
        """The rows, those that look the same and follow each other in one."""
        return [Band(rows=rows) for rows in _split(self.rows, self._split_after)]

    def runs(self, gfx: str) -> list[Run]:
        """Since when and until when a GPU has which mark."""
        column = self.gpus.index(gfx)

        def differ(row: Row, after: Row) -> bool:
            mine, its = row.cells[column], after.cells[column]
            return (mine.mark, mine.doubtful) != (its.mark, its.doubtful) or not self._follow(row, after)

        return [
            Run(
                mark=rows[0].cells[column].mark,
                doubtful=rows[0].cells[column].doubtful,
                first=rows[0].vllm,
                last=rows[-1].vllm,
                open=rows[-1].vllm == self.known[-1],
            )
            for rows in _split(self.rows, differ)
        ]

    def _split_after(self, row: Row, after: Row) -> bool:
        return not row.same(after) or not self._follow(row, after)

    def _follow(self, row: Row, after: Row) -> bool:
        """Whether no release lies between the two, so that nothing is said of one that was not asked."""
        if row.vllm not in self.known or after.vllm not in self.known:
            return False
        return self.known.index(after.vllm) == self.known.index(row.vllm) + 1


def matrix(answers: Iterable[Answer], known: Sequence[str]) -> Matrix:
    """The matrix of the answers for one model, which come in the order of the releases, for each GPU the same ones.

    ValueError where no release could be asked.
    """
    asked = list(answers)
    report = next((answer.report for answer in asked if answer.report is not None), None)
    if report is None:
        raise ValueError("no release could be asked")
    cells = _Cells()
    rows: dict[str, list[Answer]] = {}
    for answer in asked:
        rows.setdefault(answer.vllm, []).append(answer)
    return Matrix(
        source=report.source,
        architecture=report.architecture,
        model_type=report.model_type,
        layer_count=report.layer_count,
        options={key: value for key, value in report.target.items() if key not in ("vllm", "gfx")},
        gpus=tuple(dict.fromkeys(answer.gfx for answer in asked)),
        rows=tuple(
            Row(vllm=vllm, answered_by=row[0].answered_by, cells=tuple(map(cells.of, row)))
            for vllm, row in rows.items()
        ),
        notes=tuple(cells.notes.values()),
        known=tuple(known),
        out_of_time=any(answer.report is not None and answer.report.out_of_time for answer in asked),
    )


def _split(rows: Sequence[Row], differ: Any) -> Iterator[tuple[Row, ...]]:
    start = 0
    for end, (row, after) in enumerate(pairwise(rows), 1):
        if differ(row, after):
            yield tuple(rows[start:end])
            start = end
    yield tuple(rows[start:])


class _Cells:
    """Makes cells and numbers their notes, the same note the same. A report that comes again is not read again."""

    def __init__(self) -> None:
        self.notes: dict[tuple[object, ...], Note] = {}
        self._made: dict[int, Cell] = {}

    def of(self, answer: Answer) -> Cell:
        """The cell of an answer."""
        if answer.report is None:
            return Cell(mark="-", verdict=None, notes=self._numbers(answer))
        if id(answer.report) not in self._made:
            self._made[id(answer.report)] = self._of(answer.report, self._numbers(answer))
        return self._made[id(answer.report)]

    def _numbers(self, answer: Answer) -> tuple[int, ...]:
        found = [
            self.notes.setdefault(key, replace(note, number=len(self.notes) + 1)).number for key, note in _said(answer)
        ]
        return tuple(dict.fromkeys(found))

    @staticmethod
    def _of(report: Report, notes: tuple[int, ...]) -> Cell:
        layers = [layer for layer in report.layers if layer.part == "target"]
        return Cell(
            mark="-" if _has_no_class(report) else _MARKS[report.verdict],
            verdict=report.verdict,
            notes=notes,
            fused=sum(layer.decision.decision == "fused" for layer in layers),
            layers=len(layers),
            doubtful=report.verdict == "fuses" and any(finding.severity == "error" for finding in report.findings),
        )


def _has_no_class(report: Report) -> bool:
    return report.undecided_reason is not None and NO_CLASS in report.undecided_reason


def _said(answer: Answer) -> Iterator[tuple[tuple[object, ...], Note]]:
    """What is to be said of a cell, each with what makes it the same as another cell's."""
    for note in _whole(answer):
        yield (note.kind, note.text, note.part), note
    if answer.report is not None:
        for group in _telling(answer.report):
            note = _of_layers(group, answer.report)
            said = nameless(words_of_any(group.first), answer.report)
            yield (note.kind, note.part, note.layers, said), note
        for finding in answer.report.findings:
            if finding.severity == "info":  # no cell is marked for what is merely worth knowing
                continue
            note = _of_finding(finding, answer.report)
            yield (note.kind, note.text, note.part, note.layers), note


def _of_finding(finding: Finding, report: Report) -> Note:
    text = nameless(f"{finding.rule} {finding.name}: {finding.message}", report)
    return Note(kind="finding", text=text, part=finding.part or "target", layers=finding.layers)


def _whole(answer: Answer) -> Iterator[Note]:
    """What is said of the model as a whole."""
    report = answer.report
    if report is None:
        yield Note(kind="option", text=answer.refused or "this release cannot be asked so")
        return
    if report.undecided_reason is not None and not _has_no_class(report):
        yield Note(kind="undecided", text=nameless(report.undecided_reason, report))
    if not report.requested and report.verdict == "separate":
        yield Note(kind="not_requested", text=nameless(report.requested_reason or "fusion is not requested", report))
    if report.startup_error is not None:
        failure = report.startup_error
        yield Note(kind="error", text=f"{failure.type}: {failure.message}", part=report.startup_part or "target")


def _telling(report: Report) -> Iterator[Group]:
    """The layers of which something is to be said: errors, and what is left unfused although it was asked for."""
    for group in groups(report.layers):
        layer = group.first
        if layer.decision.decision == "error" or (layer.decision.decision == "separate" and _counts(layer, report)):
            yield group


def _counts(layer: Layer, report: Report) -> bool:
    if not report.requested or report.startup_error is not None:
        return False
    return layer.part == "target" or report.verdict == "fuses"


def _of_layers(group: Group, report: Report) -> Note:
    decision = group.first.decision
    if decision.error is not None:
        kind: Kind = "error"
        text = f"{decision.error.type}: {decision.error.message}"
    else:
        kind = "no_reason" if decision.reason is None else "reason"
        text = NO_REASON if decision.reason is None else nameless(decision.reason, report)
    return Note(kind=kind, text=text, part=group.first.part, layers=numbers(group.indices), alike=group.alike)
