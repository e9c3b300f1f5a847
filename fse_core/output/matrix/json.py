"""`json`: the `fse.matrix/1` object for programs; a list of them where several sources were asked for."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fse_core.matrix import Cell, Matrix, Note, Row
from fse_core.output import Format, Style
from fse_core.version import __version__

SCHEMA = "fse.matrix/1"


def matrix_to_dict(matrix: Matrix) -> dict[str, Any]:
    """The `fse.matrix/1` object. No releases are folded: a row for each."""
    return {
        "schema": SCHEMA,
        "engine": __version__,
        "source": asdict(matrix.source),
        "model": {
            "architecture": matrix.architecture,
            "model_type": matrix.model_type,
            "layers": matrix.layer_count,
        },
        "options": dict(matrix.options),
        "gpus": list(matrix.gpus),
        "releases": [_row(row, matrix.gpus) for row in matrix.rows],
        "runs": {gfx: [asdict(run) for run in matrix.runs(gfx)] for gfx in matrix.gpus},
        "notes": [_note(note) for note in matrix.notes],
    }


def _row(row: Row, gpus: Sequence[str]) -> dict[str, Any]:
    cells = {gfx: _cell(cell) for gfx, cell in zip(gpus, row.cells, strict=True)}
    return {"vllm": row.vllm, "answered_by": row.answered_by, "cells": cells}


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "mark": cell.mark,
        "doubtful": cell.doubtful,
        "verdict": cell.verdict,
        "fused": cell.fused,
        "layers": cell.layers,
        "notes": list(cell.notes),
    }


def _note(note: Note) -> dict[str, Any]:
    return {
        "number": note.number,
        "kind": note.kind,
        "text": note.text,
        "part": note.part,
        "layers": note.layers,
        "alike": note.alike,
    }


def _render(matrices: Sequence[Matrix], style: Style) -> str:
    objects = [matrix_to_dict(matrix) for matrix in matrices]
    return json.dumps(objects[0] if len(objects) == 1 else objects, indent=2, ensure_ascii=True) + "\n"


FORMAT: Format[Matrix] = Format(summary="fse.matrix/1 for programs", render=_render)
