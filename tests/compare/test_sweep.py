"""Many releases asked about real models: a release that is passed over would have said the same."""

from dataclasses import replace
from typing import Any

import pytest

from examples.check import Example, examples
from fse_core import Report, Target, check, releases
from fse_core.errors import InputError
from fse_core.matrix import Answer, matrix
from fse_core.read.model import Model
from fse_core.read.source import model_from_dict, read_model
from fse_core.sweep import GPUS, in_order, sweep
from fse_core.upgrade import upgrade
from tests.models import DEEPSEEK


def read(example: Example) -> Model:
    return read_model(str(example.folder))


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_no_cell_differs_from_what_asking_each_release_gives(example: Example) -> None:
    model = read(example)
    asked = [
        Answer(
            vllm=version,
            answered_by=version,
            gfx=gfx,
            report=check(model, replace(example.target, vllm=version, gfx=gfx)),
        )
        for version in releases.known()
        for gfx in GPUS
    ]
    assert sweep(model, example.target) == matrix(asked, releases.known())


def test_every_known_release_has_a_row() -> None:
    found = sweep(model_from_dict(DEEPSEEK), Target())
    assert [row.vllm for row in found.rows] == list(releases.known())
    assert found.gpus == GPUS
    assert "vllm" not in found.options
    assert found.options["tp"] == 1


@pytest.mark.parametrize("architectures", [["NobodyKnowsForCausalLM"], [], "DeepseekV3ForCausalLM", None])
def test_a_model_that_cannot_be_told_is_unknown_on_every_release(architectures: Any) -> None:
    found = sweep(model_from_dict({**DEEPSEEK, "architectures": architectures}), Target())
    assert {cell.mark for row in found.rows for cell in row.cells} == {"unknown"}
    assert len(found.notes) == 1


def test_a_release_before_the_architecture_came_is_told_apart() -> None:
    found = sweep(model_from_dict({"architectures": ["Qwen4ExpForCausalLM"], "num_hidden_layers": 2}), Target())
    marks = [run.mark for run in found.runs("gfx942")]
    assert marks[0] == "-"
    assert "-" not in marks[1:]


def test_a_release_without_an_option_says_so_and_the_others_answer() -> None:
    found = sweep(model_from_dict(DEEPSEEK), Target(moe_backend="aiter"))
    refused = [row.vllm for row in found.rows if row.cells[0].verdict is None]
    assert refused[0] == "0.11.1"
    assert "0.33.0" not in refused
    assert found.notes[0].text == "this release does not take --moe-backend aiter"
    with pytest.raises(InputError, match="--moe-backend"):
        sweep(model_from_dict(DEEPSEEK), Target(moe_backend="nobodys"))


def test_versions_are_put_in_order_and_taken_once() -> None:
    assert in_order(["latest", "0.24.0", "v0.33.0", "0.19.1+rocm721", "0.34.0"]) == (
        "0.19.1", "0.24.0", "0.33.0", "0.34.0",
    )  # fmt: skip
    with pytest.raises(InputError, match=r"0\.1\.0 is not known"):
        in_order(["0.33.0", "0.1.0"])


def test_a_newer_release_has_a_row_that_names_who_answers() -> None:
    found = sweep(model_from_dict(DEEPSEEK), Target(), ["0.34.0"], ["gfx942"])
    assert [(row.vllm, row.answered_by) for row in found.rows] == [("0.34.0", releases.known()[-1])]


GLM = {
    "architectures": ["Glm4MoeForCausalLM"],
    "num_hidden_layers": 4,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "first_k_dense_replace": 1,
}


def test_an_upgrade_names_the_releases_with_which_the_answer_changes() -> None:
    found = upgrade(model_from_dict(GLM), Target(), "0.23.0", "0.26.0")
    assert (found.outcome, found.back) == ("better", False)
    assert [step.vllm for step in found.steps] == ["0.25.0"]
    assert found.steps[0].sentences == releases.load("0.25.0").changes


def test_releases_that_know_nothing_of_it_or_break_alike_are_no_steps() -> None:
    kimi = next(example for example in examples() if example.name == "moonshotai/Kimi-K2.5")
    found = upgrade(read(kimi), kimi.target, "0.11.1", "0.33.0")
    assert found.outcome == "undecided"
    assert [step.vllm for step in found.steps] == ["0.15.0", "0.29.0"]


def test_going_back_takes_the_same_steps() -> None:
    found = upgrade(model_from_dict(GLM), Target(), "0.26.0", "0.23.0")
    assert (found.outcome, found.back) == ("worse", True)
    assert [step.vllm for step in found.steps] == ["0.25.0"]


def test_nothing_changes_from_a_release_to_itself() -> None:
    found = upgrade(model_from_dict(GLM), Target(), "latest", "0.33.0")
    assert (found.outcome, found.steps) == ("same", ())


def test_an_option_that_one_end_lacks_is_refused() -> None:
    with pytest.raises(InputError, match="--all2all-backend"):
        upgrade(model_from_dict(GLM), Target(all2all_backend="mori"), "0.22.0", "0.23.0")


def test_a_release_between_that_lacks_an_option_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(model: Model, target: Target) -> Report:
        if target.vllm == "0.25.0":
            raise InputError("--moe-backend", "no such option")
        return check(model, target)

    monkeypatch.setattr("fse_core.upgrade.check", lacking)
    found = upgrade(model_from_dict(GLM), Target(), "0.23.0", "0.26.0")
    assert [step.vllm for step in found.steps] == ["0.25.1"]
