"""`table`: for people. A line for releases that look the same, then since when, and the notes."""

from collections.abc import Iterator, Sequence

from fse_core.matrix import Cell, Matrix
from fse_core.output import Format, Style
from fse_core.output.words.matrix import (
    MEANINGS,
    TONES,
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
from fse_core.output.words.text import labelled, paint, wrapped

_INDENT = 2
_GAP = 3


def _render(matrices: Sequence[Matrix], style: Style) -> str:
    return "\n\n".join("\n".join(_lines(matrix, style)) for matrix in matrices) + "\n"


def _lines(matrix: Matrix, style: Style) -> Iterator[str]:
    yield from wrapped(source_words(matrix.source), style, tone="strong")
    yield from labelled("model", model_words(matrix.architecture, matrix.layer_count), style, indent=_INDENT)
    yield from labelled("target", ", ".join(option_words(matrix.options)), style, indent=_INDENT)
    yield ""
    yield from _table(matrix, style)
    yield ""
    since = since_words(matrix)
    for gpus, words in since.items():
        yield from labelled(gpus, words, style, indent=_INDENT, column=max(map(len, since)) + 2)
    yield from _notes(matrix, style)
    yield ""
    yield from wrapped("; ".join(f"{mark}: {MEANINGS[mark]}" for mark in marks(matrix)), style, tone="faint")


def _notes(matrix: Matrix, style: Style) -> Iterator[str]:
    if matrix.notes:
        yield ""
    column = len(str(len(matrix.notes))) + 4
    for note in matrix.notes:
        place = note_place(note)
        first, *rest = f"{place}: {note.text}".removeprefix(": ").split("\n")
        tail = note_tail(note)
        yield from labelled(f"[{note.number}]", first if rest else first + tail, style, indent=_INDENT, column=column)
        for line in [*rest[:-1], *(last + tail for last in rest[-1:])]:
            yield from wrapped(line, style, indent=_INDENT + column)


def _table(matrix: Matrix, style: Style) -> Iterator[str]:
    bands = matrix.bands()
    names = [releases_words(band) for band in bands]
    first = max(map(len, ["vLLM", *names])) + _GAP
    widths = [
        max(len(gfx), *(len(_cell(band.first.cells[place])) for band in bands)) + _GAP
        for place, gfx in enumerate(matrix.gpus)
    ]
    heads = "".join(f"{gfx:<{width}}" for gfx, width in zip(matrix.gpus, widths, strict=True))
    yield " " * _INDENT + paint(f"{'vLLM':<{first}}{heads}".rstrip(), "faint", style)
    for name, band in zip(names, bands, strict=True):
        cells = [_painted(cell, width, style) for cell, width in zip(band.first.cells, widths, strict=True)]
        yield (" " * _INDENT + f"{name:<{first}}" + "".join(cells)).rstrip()


def _cell(cell: Cell) -> str:
    return f"{shown(cell)} [{numbers_words(cell)}]" if cell.notes else shown(cell)


def _painted(cell: Cell, width: int, style: Style) -> str:
    text = _cell(cell)
    mark = shown(cell)
    return paint(mark, TONES.get(mark, "plain"), style) + text.removeprefix(mark) + " " * (width - len(text))


FORMAT: Format[Matrix] = Format(summary="for people", render=_render)
