"""Two made reports compared: which layers go together, what is worse, and what is said of it."""

from typing import Any

import pytest

from fse_core.diff import Diff, Step, diff
from fse_core.report import Failure, Report
from fse_core.target import Target
from tests.output.reports import UNDECIDED, failed, finding, layer, report, separate

START = Failure(type="KeyError", message="such")
FUSES = report(layer(3), layer(4))
SEPARATE = report(layer(3, separate("why")), layer(4, separate("why")), verdict="separate")


def ruin(**more: Any) -> Any:
    facts = {"severity": "error", "consequence": "silent_corruption", "part": "target", "layers": "3-4"}
    return finding(**{**facts, **more})


BREAKS = report(layer(3), layer(4), verdict="breaks", findings=(ruin(),))
FAILS = report(layer(3), layer(4, failed("ValueError", "no")), verdict="fails")


def words(found: Diff) -> list[tuple[tuple[int, ...], str]]:
    return [(change.indices, change.words) for change in found.changes]


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        (FUSES, FUSES, "same"),
        (FUSES, SEPARATE, "worse"),
        (SEPARATE, FUSES, "better"),
        (FUSES, BREAKS, "worse"),
        (BREAKS, FUSES, "better"),
        (SEPARATE, BREAKS, "worse"),
        (BREAKS, SEPARATE, "better"),
        (SEPARATE, FAILS, "worse"),
        (FAILS, SEPARATE, "better"),
        (FUSES, FAILS, "worse"),
        (FAILS, FAILS, "same"),
        (BREAKS, FAILS, "different"),
        (FUSES, report(layer(3), verdict="undecided", undecided_reason="why"), "undecided"),
        (report(verdict="undecided", undecided_reason="why"), FUSES, "undecided"),
    ],
)
def test_the_outcome(old: Report, new: Report, outcome: str) -> None:
    assert diff(old, new).outcome == outcome


def test_layers_with_the_same_two_answers_go_together() -> None:
    old = report(layer(3), layer(4), layer(5, separate("why")), layer(6))
    new = report(layer(3), layer(4, separate("a")), layer(5, separate("b")), layer(6, separate("a")))
    assert words(diff(old, new)) == [
        ((3,), "fused, as before"),
        ((4, 6), "no longer fused"),
        ((5,), "still not fused, in other words"),
    ]


def test_words_that_differ_in_the_layers_number_alone_are_the_same_answer() -> None:
    old = report(*(layer(index, separate(f"at model.layers.{index}.mlp")) for index in (3, 4)), verdict="separate")
    new = report(*(layer(index, separate(f"At model.layers.{index}.mlp")) for index in (3, 4)), verdict="separate")
    assert diff(old, old).changes[0].indices == (3, 4)
    (change,) = diff(old, new).changes
    assert (change.alike, change.changed) == (True, True)
    assert not diff(FUSES, SEPARATE).changes[0].alike


def test_a_target_layer_is_not_a_draft_layer_of_the_same_number() -> None:
    old = report(layer(0), layer(0, part="draft"))
    new = report(layer(0), layer(0, separate("why"), part="draft"))
    found = diff(old, new)
    assert [(change.part, change.words) for change in found.changes] == [
        ("target", "fused, as before"),
        ("draft", "no longer fused"),
    ]
    assert found.outcome == "worse"


def test_layers_of_one_side_alone() -> None:
    old, new = report(layer(3), layer(61, part="draft")), report(layer(3), layer(62, part="draft"))
    gone, come = diff(old, new).changes[1:]
    assert (gone.old is not None, gone.new, gone.after) == (True, None, "absent")
    assert (come.old, come.new is not None, come.before) == (None, True, "absent")


def test_two_layers_with_one_number_are_told_apart_by_their_order() -> None:
    old = report(layer(0), layer(0, separate("second")))
    new = report(layer(0), layer(0))
    assert [(change.before, change.after) for change in diff(old, new).changes] == [
        ("fused", "fused"),
        ("separate", "fused"),
    ]


def test_only_the_layers_that_a_finding_names_go_wrong() -> None:
    new = report(layer(3), layer(4), layer(4, part="draft"), findings=(ruin(layers="4"),))
    assert [(change.part, change.indices, change.after) for change in diff(new, new).changes] == [
        ("target", (3,), "fused"),
        ("target", (4,), "broken"),
        ("draft", (4,), "fused"),
    ]


def test_a_range_with_a_step_names_no_layer_between() -> None:
    layers = [layer(index) for index in (1, 2, 3, 5, 7)]
    new = report(*layers, findings=(ruin(layers="1-7 by 2"),))
    assert [(change.indices, change.after) for change in diff(new, new).changes] == [
        ((1, 3, 5, 7), "broken"),
        ((2,), "fused"),
    ]


@pytest.mark.parametrize("more", [{"severity": "warning"}, {"consequence": "slower"}])
def test_a_mild_finding_ruins_nothing(more: dict[str, Any]) -> None:
    new = report(layer(3), layer(4), findings=(ruin(**more),))
    assert diff(FUSES, new).outcome == "different"


def test_a_ruinous_finding_about_the_whole_ruins_every_layer() -> None:
    new = report(layer(3), layer(4), findings=(ruin(part=None, layers=""),))
    assert words(diff(FUSES, new)) == [((3, 4), "still fused, but now it goes wrong")]


def test_a_start_that_fails_with_the_draft_alone_is_worse() -> None:
    new = report(layer(3), layer(4), startup_error=START, startup_part="draft")
    assert diff(FUSES, new).outcome == "worse"
    assert diff(new, FUSES).outcome == "better"
    assert diff(FAILS, FAILS).outcome == "same"


def test_what_is_fused_before_the_start_fails_is_not_fused_soundly() -> None:
    (first, second) = diff(FAILS, SEPARATE).changes
    assert (first.before, first.after, first.worse) == ("futile", "separate", False)
    assert first.words == "now not fused; before: fused, but the start fails"
    assert second.before == "error"


def test_layers_that_are_no_longer_reached() -> None:
    new = report(layer(3, UNDECIDED), layer(4, UNDECIDED), verdict="fails", startup_error=START)
    assert words(diff(FUSES, new)) == [((3, 4), "no longer fused: the start ends before these layers")]


def test_findings_that_come_and_go() -> None:
    old = report(layer(3), findings=(finding(message="a"), finding(message="b", evidence=("x",))))
    new = report(layer(3), findings=(finding(message="b", evidence=("y",)), finding(message="c")))
    found = diff(old, new)
    assert [one.message for one in found.appeared] == ["c"]
    assert [one.message for one in found.gone] == ["a"]
    assert found.outcome == "different"


def test_a_finding_that_names_its_release_is_the_same_one_on_another() -> None:
    def on(vllm: str) -> Report:
        made = finding(message=f"Here vLLM {vllm} does it.")
        return report(layer(3), findings=(made,), target=Target(vllm=vllm).as_dict())

    assert diff(on("0.1.0"), on("0.2.0")).outcome == "same"


def test_other_words_of_a_failing_start_are_a_difference() -> None:
    old = report(verdict="fails", startup_error=START)
    new = report(verdict="fails", startup_error=Failure(type="KeyError", message="other"))
    assert diff(old, new).outcome == "different"


def test_steps_are_kept() -> None:
    steps = (Step(vllm="0.2.0", sentences=("It changed.",)),)
    assert diff(FUSES, SEPARATE, steps=iter(steps), back=True).steps == steps
