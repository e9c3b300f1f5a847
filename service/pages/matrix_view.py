"""A matrix for people: the newest release first, each mark with its meaning and the numbers of its notes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fse_core import releases
from fse_core.matrix import Band, Cell, Matrix, Note, Row
from fse_core.output.words.matrix import MEANINGS, marks, note_place, note_tail, releases_words, shown, since_words
from fse_core.report import Source
from service.pages.layers import State

STATES: Final[Mapping[str, State]] = {
    "y": "fused",
    "y!": "risky",
    "n": "separate",
    "breaks": "breaks",
    "fails": "error",
    "n.a.": "none",
    "-": "none",
    "unknown": "undecided",
}
Place = Callable[[str, str], str]
"""The address of the model's page for a release and a GPU."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One cell; `link` is empty where there is no page behind it."""

    mark: str
    state: State
    meaning: str
    gfx: str
    notes: tuple[int, ...]
    link: str


@dataclass(frozen=True, kw_only=True)
class Line:
    """Releases that look the same: `0.25.0 to 0.28.0`."""

    releases: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, kw_only=True)
class Footnote:
    """`place` are the layers that it is about; `tail` what has to be said behind its text."""

    number: int
    place: str
    text: str
    tail: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """All of it. `since` says for the GPUs since when and until when; `legend` has the marks that occur."""

    gpus: tuple[str, ...]
    lines: tuple[Line, ...]
    since: Mapping[str, str]
    notes: tuple[Footnote, ...]
    legend: tuple[tuple[str, State, str], ...]


def table_of(data: Mapping[str, Any], place: Place) -> Table:
    """What a page shows of an `fse.matrix/1` object."""
    matrix = _matrix(data)
    return Table(
        gpus=matrix.gpus,
        lines=tuple(_lines(matrix, place)),
        since=since_words(matrix),
        notes=tuple(
            Footnote(number=note.number, place=note_place(note), text=note.text, tail=note_tail(note))
            for note in matrix.notes
        ),
        legend=tuple((mark, STATES[mark], MEANINGS[mark]) for mark in marks(matrix)),
    )


def _matrix(data: Mapping[str, Any]) -> Matrix:
    gpus = tuple(data["gpus"])
    return Matrix(
        source=Source(**data["source"]),
        architecture=data["model"]["architecture"],
        model_type=data["model"]["model_type"],
        layer_count=data["model"]["layers"],
        options=data["options"],
        gpus=gpus,
        rows=tuple(_row(row, gpus) for row in data["releases"]),
        notes=tuple(Note(**note) for note in data["notes"]),
        known=releases.known(),
    )


def _row(row: Mapping[str, Any], gpus: tuple[str, ...]) -> Row:
    cells = tuple(Cell(**{**row["cells"][gfx], "notes": tuple(row["cells"][gfx]["notes"])}) for gfx in gpus)
    return Row(vllm=row["vllm"], answered_by=row["answered_by"], cells=cells)


def _lines(matrix: Matrix, place: Place) -> Iterator[Line]:
    for band in reversed(matrix.bands()):
        marked = (_mark(band, gfx, cell, place) for gfx, cell in zip(matrix.gpus, band.last.cells, strict=True))
        yield Line(releases=releases_words(band), marks=tuple(marked))


def _mark(band: Band, gfx: str, cell: Cell, place: Place) -> Mark:
    mark = shown(cell)
    return Mark(
        mark=mark,
        state=STATES[mark],
        meaning=MEANINGS[mark],
        gfx=gfx,
        notes=cell.notes,
        link="" if cell.verdict is None else place(band.last.vllm, gfx),
    )
