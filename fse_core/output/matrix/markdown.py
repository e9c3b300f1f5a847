"""`markdown`: a table and its notes, to paste into an issue or a model card."""

from collections.abc import Iterator, Sequence

from fse_core.matrix import Cell, Matrix, Note
from fse_core.output import Format, Style
from fse_core.output.words.markdown import code, plain, table
from fse_core.output.words.matrix import (
    MEANINGS,
    marks,
    note_place,
    note_tail,
    numbers_words,
    releases_words,
    shown,
    since_words,
)
from fse_core.output.words.source import model_words, source_words
from fse_core.output.words.summary import option_words


def _render(matrices: Sequence[Matrix], style: Style) -> str:
    return "\n\n".join("\n".join(_lines(matrix)) for matrix in matrices) + "\n"


def _lines(matrix: Matrix) -> Iterator[str]:
    yield f"### {plain(source_words(matrix.source))}"
    yield ""
    target = ", ".join(option_words(matrix.options))
    yield f"{plain(model_words(matrix.architecture, matrix.layer_count))}; served with {plain(target)}."
    yield ""
    yield from table(
        ["vLLM", *matrix.gpus],
        ([releases_words(band), *map(_cell, band.first.cells)] for band in matrix.bands()),
    )
    yield ""
    yield from (f"- {gpus}: {words}" for gpus, words in since_words(matrix).items())
    yield ""
    if matrix.notes:
        yield from (f"{note.number}. {_note(note)}" for note in matrix.notes)
        yield ""
    yield "; ".join(f"**{mark}** {MEANINGS[mark]}" for mark in marks(matrix)) + "."


def _cell(cell: Cell) -> str:
    return f"{shown(cell)} ({numbers_words(cell)})" if cell.notes else shown(cell)


def _note(note: Note) -> str:
    place = note_place(note)
    text = code(note.text) if note.kind in ("reason", "error") else plain(note.text)
    return (f"{place}: {text}" if place else text) + note_tail(note)


FORMAT: Format[Matrix] = Format(summary="to paste into an issue or a model card", render=_render)
