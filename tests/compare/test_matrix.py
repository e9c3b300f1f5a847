"""A matrix from made reports: marks, notes, what is folded and what is not."""

from typing import Any

import pytest

from fse_core.matrix import NO_REASON, Answer, Cell, Matrix, Note, matrix
from fse_core.report import Failure, Report
from fse_core.target import Target
from tests.output.reports import failed, finding, layer, report, separate

KNOWN = ("0.1.0", "0.2.0", "0.2.1", "0.3.0")


def answer(vllm: str, made: Report | None, gfx: str = "gfx942", **more: Any) -> Answer:
    return Answer(**{"vllm": vllm, "answered_by": vllm, "gfx": gfx, "report": made, **more})


def on(vllm: str, *layers: Any, **more: Any) -> Report:
    return report(*layers, **{"target": Target(vllm=vllm, tp=8).as_dict(), **more})


def fused(vllm: str) -> Report:
    return on(vllm, layer(3), layer(4))


def unfused(vllm: str, reason: str | None = "excluded at model.layers.{}.mlp") -> Report:
    layers = [layer(index, separate(reason and reason.format(index))) for index in (3, 4)]
    return on(vllm, *layers, verdict="separate")


def cell(made: Report | None, **more: Any) -> tuple[Cell, tuple[Note, ...]]:
    built = matrix([answer("0.0.1", fused("0.0.1")), answer("0.1.0", made, **more)], KNOWN)
    return built.rows[1].cells[0], built.notes


@pytest.mark.parametrize(
    ("verdict", "mark"),
    [
        ("fuses", "y"),
        ("separate", "n"),
        ("breaks", "breaks"),
        ("fails", "fails"),
        ("not_applicable", "n.a."),
        ("undecided", "unknown"),
    ],
)
def test_the_verdict_makes_the_mark(verdict: str, mark: str) -> None:
    found, _ = cell(on("0.1.0", verdict=verdict, undecided_reason="why" if verdict == "undecided" else None))
    assert (found.mark, found.verdict) == (mark, verdict)


def test_a_release_without_a_class_for_it_is_a_mark_of_its_own_and_needs_no_note() -> None:
    reason = "vLLM 0.1.0 has no class of its own for the architecture NewForCausalLM"
    found, notes = cell(on("0.1.0", verdict="undecided", undecided_reason=reason))
    assert (found.mark, found.notes, notes) == ("-", (), ())


def test_a_release_that_does_not_take_an_option_says_so() -> None:
    found, notes = cell(None, refused="this release does not take --moe-backend aiter")
    assert (found.mark, found.verdict) == ("-", None)
    assert [note.text for note in notes] == ["this release does not take --moe-backend aiter"]


def test_layers_with_one_reason_are_one_note_with_the_first_ones_words() -> None:
    found, notes = cell(unfused("0.1.0"))
    assert found.notes == (1,)
    assert notes == (
        Note(kind="reason", text="excluded at model.layers.3.mlp", layers="3-4", alike=True, number=1),
    )  # fmt: skip
    assert (found.fused, found.layers) == (0, 2)


def test_no_reason_is_said_too() -> None:
    _, notes = cell(unfused("0.1.0", None))
    assert [(note.kind, note.text) for note in notes] == [("no_reason", NO_REASON)]


def test_equal_notes_of_several_releases_have_one_number() -> None:
    reports = [unfused("0.1.0"), unfused("0.2.0", "otherwise"), unfused("0.2.1")]
    built = matrix([answer(one.target["vllm"], one) for one in reports], KNOWN)
    assert [row.cells[0].notes for row in built.rows] == [(1,), (2,), (1,)]
    assert [note.number for note in built.notes] == [1, 2]


def test_an_error_of_a_layer_and_one_of_the_start_are_notes() -> None:
    _, notes = cell(on("0.1.0", layer(3, failed("ValueError", "no")), verdict="fails"))
    assert [(note.kind, note.text, note.layers) for note in notes] == [("error", "ValueError: no", "3")]
    start = Failure(type="KeyError", message="such")
    _, notes = cell(on("0.1.0", layer(3, separate("why")), verdict="fails", startup_error=start, startup_part="target"))
    assert [(note.kind, note.text, note.layers) for note in notes] == [("error", "KeyError: such", "")]


def test_a_failing_draft_is_told_although_the_target_fuses() -> None:
    start = Failure(type="KeyError", message="such")
    found, notes = cell(on("0.1.0", layer(3), startup_error=start, startup_part="draft"))
    assert found.mark == "y"
    assert [(note.kind, note.part) for note in notes] == [("error", "draft")]


def test_an_unfused_draft_is_told_where_the_target_fuses_and_only_there() -> None:
    draft = layer(61, separate("not this one"), part="draft")
    _, notes = cell(on("0.1.0", layer(3), draft))
    assert [(note.part, note.text) for note in notes] == [("draft", "not this one")]
    _, notes = cell(on("0.1.0", layer(3, separate("why")), draft, verdict="separate"))
    assert [(note.part, note.text) for note in notes] == [("target", "why")]


def test_our_own_words_do_not_differ_for_the_releases_name() -> None:
    reports = [
        on(vllm, layer(3, separate(None)), verdict="separate", requested=False, requested_reason=f"vLLM {vllm} is shy")
        for vllm in ("0.1.0", "0.2.0")
    ]
    built = matrix([answer(one.target["vllm"], one) for one in reports], KNOWN)
    assert [note.text for note in built.notes] == ["This release is shy"]
    message = "Here. vLLM 0.1.0 does it, as vLLM 0.1.01 and vLLM 0.1.0rc1 do not; ask vLLM 0.1.0."
    _, notes = cell(on("0.1.0", layer(3), findings=(finding(message=message),)))
    said = "Here. This release does it, as vLLM 0.1.01 and vLLM 0.1.0rc1 do not; ask this release."
    assert notes[0].text == f"FSE101 shared-expert-excluded: {said}"


def test_a_fusing_release_with_an_error_among_its_findings_is_doubtful() -> None:
    assert not cell(on("0.1.0", layer(3), findings=(finding(severity="warning"),)))[0].doubtful
    assert cell(on("0.1.0", layer(3), findings=(finding(severity="error"),)))[0].doubtful
    assert not cell(on("0.1.0", layer(3), verdict="breaks", findings=(finding(severity="error"),)))[0].doubtful


def versions(built: Matrix) -> list[list[str]]:
    return [[row.vllm for row in band.rows] for band in built.bands()]


def test_rows_that_look_the_same_are_folded() -> None:
    made = [fused("0.1.0"), fused("0.2.0"), unfused("0.2.1"), unfused("0.3.0", "otherwise")]
    built = matrix([answer(one.target["vllm"], one) for one in made], KNOWN)
    assert versions(built) == [["0.1.0", "0.2.0"], ["0.2.1"], ["0.3.0"]]
    assert [(run.mark, run.first, run.last, run.open) for run in built.runs("gfx942")] == [
        ("y", "0.1.0", "0.2.0", False),
        ("n", "0.2.1", "0.3.0", True),
    ]


def test_nothing_is_said_of_a_release_that_was_not_asked() -> None:
    built = matrix([answer(vllm, fused(vllm)) for vllm in ("0.1.0", "0.2.1", "0.3.0")], KNOWN)
    assert versions(built) == [["0.1.0"], ["0.2.1", "0.3.0"]]
    assert [(run.first, run.last) for run in built.runs("gfx942")] == [("0.1.0", "0.1.0"), ("0.2.1", "0.3.0")]


def test_a_release_that_is_not_known_stands_alone() -> None:
    made = [answer("0.3.0", fused("0.3.0")), answer("0.4.0", fused("0.3.0"), answered_by="0.3.0")]
    built = matrix(made, KNOWN)
    assert versions(built) == [["0.3.0"], ["0.4.0"]]
    assert built.rows[1].answered_by == "0.3.0"


def test_one_gpu_that_differs_splits_the_row_for_all() -> None:
    made = [answer(vllm, fused(vllm), gfx) for gfx in ("gfx942", "gfx950") for vllm in ("0.1.0", "0.2.0")]
    made[3] = answer("0.2.0", unfused("0.2.0"), "gfx950")
    built = matrix(made, KNOWN)
    assert built.gpus == ("gfx942", "gfx950")
    assert versions(built) == [["0.1.0"], ["0.2.0"]]
    assert len(built.runs("gfx942")) == 1
    assert len(built.runs("gfx950")) == 2


def test_it_is_decided_where_any_cell_is() -> None:
    unknown = on("0.1.0", verdict="undecided", undecided_reason="why")
    assert not matrix([answer("0.1.0", unknown)], KNOWN).decided
    assert matrix([answer("0.1.0", unknown), answer("0.2.0", fused("0.2.0"))], KNOWN).decided


def test_without_any_report_there_is_no_matrix() -> None:
    with pytest.raises(ValueError, match="no release"):
        matrix([answer("0.1.0", None, refused="no")], KNOWN)
