"""What the formats of a matrix for people share."""

from collections.abc import Iterator, Mapping

from fse_core.matrix import Band, Cell, Matrix, Note, Row, Run
from fse_core.output.words.text import Tone

MEANINGS: Mapping[str, str] = {
    "y": "fuses",
    "y!": "fuses, and something may go wrong",
    "n": "does not fuse",
    "breaks": "would fuse, and loading goes wrong",
    "fails": "does not start",
    "n.a.": "no layer has shared experts beside routed ones",
    "-": "not in this release",
    "unknown": "not known, nothing is claimed",
}
TONES: Mapping[str, Tone] = {"y": "good", "y!": "bad", "n": "warning", "breaks": "bad", "fails": "bad"}
_RUNS: Mapping[str, str] = {
    **MEANINGS,
    "y!": "fuses, and something may go wrong,",
    "breaks": "breaks",
    "n.a.": "not applicable",
    "-": "not there",
    "unknown": "not known",
}


def releases_words(band: Band) -> str:
    """`0.15.0 to 0.18.1`, or the one release."""
    first, last = _release(band.first), _release(band.last)
    return first if len(band.rows) == 1 else f"{first} to {last}"


def _release(row: Row) -> str:
    return row.vllm if row.vllm == row.answered_by else f"{row.vllm} (as {row.answered_by})"


def numbers_words(cell: Cell) -> str:
    """The numbers of the cell's notes."""
    return ", ".join(map(str, cell.notes))


def since_words(matrix: Matrix) -> dict[str, str]:
    """`gfx942, gfx950` to `fuses from 0.11.1 to 0.28.0; does not fuse since 0.29.0`: GPUs that agree stand together."""
    gpus: dict[str, list[str]] = {}
    for gfx in matrix.gpus:
        gpus.setdefault("; ".join(_run_words(run) for run in matrix.runs(gfx)), []).append(gfx)
    return {", ".join(names): words for words, names in gpus.items()}


def _run_words(run: Run) -> str:
    if run.open:
        when = f"in {run.first}" if run.first == run.last else f"since {run.first}"
    else:
        when = f"in {run.first}" if run.first == run.last else f"from {run.first} to {run.last}"
    return f"{_RUNS[shown(run)]} {when}"


def shown(one: Cell | Run) -> str:
    """The mark, with an exclamation mark where it is doubtful."""
    return f"{one.mark}!" if one.doubtful else one.mark


def marks(matrix: Matrix) -> Iterator[str]:
    """The marks that occur, in the order of their meanings."""
    found = {shown(cell) for row in matrix.rows for cell in row.cells}
    return (mark for mark in MEANINGS if mark in found)


def note_place(note: Note) -> str:
    """The layers of which a note tells, or that it is about the draft; empty where it is about the whole."""
    if note.kind == "finding":  # says it itself
        return ""
    draft = "draft " if note.part == "draft" else ""
    if not note.layers:
        return "with its draft" if draft else ""
    one = note.layers.isdigit()
    return f"{draft}{'layer' if one else 'layers'} {note.layers}"


def note_tail(note: Note) -> str:
    """What has to be said behind a note's text."""
    return " (each layer with its own number)" if note.alike else ""
