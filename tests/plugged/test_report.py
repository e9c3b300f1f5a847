"""What a release does with the plugin beside it, as it is predicted."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.checkpoints import tensors
from conformance.plugin import predicted, record
from conformance.plugin.beyond import BEYOND
from conformance.plugin.rows import ROWS
from fse_core import Target, check
from fse_core.errors import InputError
from fse_core.grouping import groups
from fse_core.headers import with_headers
from fse_core.pipeline import examined
from fse_core.plugged.judge import planned
from fse_core.plugged.options import FUSION, read
from fse_core.read.model import Model
from fse_core.read.source import model_from_dict, read_model
from fse_core.report import Report
from fse_core.sweep import sweep

CASES = {row.id: row for row in (*ROWS, *BEYOND)}
EXAMPLES = Path(__file__).parents[2] / "examples"
SEEDS = Path(__file__).parents[2] / "conformance" / "seeds"
ONLINE = {"FSE_ONLINE_SHARED_EXPERTS": "mxfp4"}


def asked(row: str, release: str, **target: Any) -> Report:
    """By a row's config alone."""
    whole = {"gfx": "gfx950", "draft": False, "plugin": True, **CASES[row].options, **target}
    return check(model_from_dict(CASES[row].checkpoint.config()), Target(vllm=release, **whole))


def example(name: str) -> Model:
    return read_model(str(EXAMPLES / name / "config.json"))


def decisions(report: Report) -> set[tuple[str, str | None]]:
    return {(layer.decision.decision, layer.decision.reason) for layer in report.layers}


@pytest.mark.parametrize("release", record.recorded("rows"))
def test_the_releases_did_what_is_predicted_in_the_same_words(release: str) -> None:
    assert list(predicted.differences(release)) == []


def test_a_difference_would_be_told() -> None:
    truth = {"fused": 0, "layers": 2, "sound": True, "text": "separate, loads", "lines": []}
    ours = predicted.predicted("alike-fp8", "0.33.0")
    assert predicted._difference(truth, ours, "alike-fp8") == "separate, loads, by ours 2 fused (fuses)"
    untold = replace(ours, verdict="undecided", undecided_reason="it takes too long", layers=())
    assert predicted._difference(truth, untold, "alike-fp8") == "separate, loads, by ours undecided: it takes too long"
    wrong = {**truth, "fused": 2, "sound": False}
    assert "by ours fuses" in str(predicted._difference(wrong, ours, "alike-fp8"))


def test_what_is_quantized_while_loading_is_told_with_who_asked() -> None:
    report = asked("mxfp4-plain-online", "0.28.0", environment=ONLINE)
    assert (report.verdict, decisions(report)) == ("fuses", {("fused", None)})
    assert [layer.slots for layer in report.layers] == [1, 1]
    told = [one for one in report.findings if one.rule == "FSE005" and one.layers]
    assert [(one.severity, one.layers) for one in told] == [("info", "0-1")]
    assert "quantizes the shared experts to mxfp4 while they load (FSE_ONLINE_SHARED_EXPERTS: mxfp4)" in told[0].message


def test_without_being_asked_the_plugin_refuses_what_breaks() -> None:
    stock = asked("mxfp4-plain", "0.28.0", plugin=False)
    report = asked("mxfp4-plain", "0.28.0")
    assert stock.verdict == "breaks"
    assert report.verdict == "separate"
    assert all("[FSE101]" in (layer.decision.reason or "") for layer in report.layers)
    assert all(layer.slots == 0 for layer in report.layers)
    assert not [one for one in report.findings if one.severity == "error"]


def test_a_request_that_cannot_be_met_is_told() -> None:
    report = asked("mxfp4-plain-online", "0.33.0", gfx="gfx942", environment=ONLINE)
    assert report.verdict == "separate"
    told = [one for one in report.findings if "not quantized while loading" in one.message]
    assert [(one.rule, one.severity) for one in told] == [("FSE005", "warning")]


def test_what_changes_numbers_is_a_warning() -> None:
    report = predicted.predicted("accept-lossy", "0.33.0")
    told = [one for one in report.findings if one.rule == "FSE005"]
    assert [one.severity for one in told] == ["warning"]
    assert "which changes their numbers" in told[0].message


def test_values_that_mean_nothing_are_told() -> None:
    report = asked("alike-fp8", "0.33.0", environment={"FSE_ACCEPT": "everything"})
    assert any("FSE_ACCEPT: everything is not one of" in one.message for one in report.findings)


def test_the_config_alone_says_that_it_is_alone() -> None:
    by_config, by_files = asked("alike-fp8", "0.33.0"), predicted.predicted("alike-fp8", "0.33.0")
    assert any("--headers full" in one.message for one in by_config.findings)
    assert not any("--headers full" in one.message for one in by_files.findings)


@pytest.mark.parametrize(
    ("release", "environment"),
    [
        ("0.23.0", {}),
        ("0.28.0", {"FSE_PLUGIN": "off"}),
        ("0.28.0", {"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS": "0"}),
    ],
)
def test_where_the_plugin_does_nothing_the_release_is_as_it_is(release: str, environment: dict[str, str]) -> None:
    with_it = asked("mxfp4-plain", release, environment=environment)
    without = asked("mxfp4-plain", release, environment=environment, plugin=False)
    assert with_it.target["plugin"] is True
    assert replace(with_it, target=without.target) == without


def test_of_a_version_that_is_no_release_nothing_is_claimed() -> None:
    report = asked("alike-fp8", "0.33.1")
    assert (report.verdict, report.layers) == ("undecided", ())
    assert report.undecided_reason == "whether the plugin knows the functions of vLLM 0.33.1 is not known"


@pytest.fixture
def divided() -> Model:
    """One of its layers is left out, so that the release demands an answer that the layers do not give."""
    return example("example--GLM-4.5-FP8-one-layer-ignored")


def test_what_does_not_start_does_not_start_with_the_plugin_either(divided: Model) -> None:
    stock = check(divided, Target(draft=False))
    report = check(divided, Target(plugin=True, draft=False))
    assert stock.verdict == report.verdict == "fails"
    assert report.startup_error == stock.startup_error


def test_layers_that_disagree_agree_once_all_are_refused(divided: Model) -> None:
    report = check(divided, Target(plugin=True, eplb=True, draft=False))
    assert report.verdict == "separate"
    assert report.startup_error is None
    assert {layer.decision.decision for layer in report.layers} == {"separate"}
    assert all("EPLB" in (layer.decision.reason or "") for layer in report.layers)


def test_a_draft_that_was_not_reached_stays_undecided(divided: Model) -> None:
    report = check(divided, Target(plugin=True, eplb=True))
    decided = {layer.part: layer.decision.decision for layer in report.layers}
    assert decided == {"target": "separate", "draft": "undecided"}
    assert len(report.layers) == len(check(divided, Target()).layers)


def test_where_no_plan_can_be_made_the_release_is_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise InputError("num_experts", "expected a number")

    monkeypatch.setattr("fse_core.plugged.report.planned", fails)
    report, stock = asked("alike-fp8", "0.33.0"), asked("alike-fp8", "0.33.0", plugin=False)
    assert decisions(report) == decisions(stock)
    assert any("leaves this to the release: num_experts: expected a number" in one.message for one in report.findings)


def test_a_class_that_fuses_without_asking_cannot_be_refused() -> None:
    model = model_from_dict(CASES["alike-fp8"].checkpoint.config())
    report, facts = examined(model, Target(vllm="0.33.0", eplb=True, draft=False))
    part = facts.parts[0]
    asking = planned(report, facts, part, read({FUSION: "1"}))
    assert asking is not None
    assert asking.refused is not None
    always = planned(report, facts, replace(part, part=replace(part.part, always=True)), read({FUSION: "1"}))
    assert always is not None
    assert always.refused is None
    assert "from which the plugin cannot keep it: EPLB" in always.notes[0]


def test_a_class_that_names_its_shared_experts_unasked_is_refused() -> None:
    config = json.loads((SEEDS / "hy_v3.json").read_text("utf-8"))
    stock = check(model_from_dict(config), Target(vllm="0.28.0", draft=False))
    report = check(model_from_dict(config), Target(vllm="0.28.0", plugin=True, draft=False))
    assert {layer.decision.decision for layer in stock.layers} == {"fused"}
    assert {layer.decision.decision for layer in report.layers} == {"separate"}
    assert all("[FSE150]" in (layer.decision.reason or "") for layer in report.layers)


def test_what_is_not_known_with_the_plugin_is_undecided() -> None:
    model = example("example--DeepSeek-R1-FP8-one-shard-ignored")
    report = check(model, Target(plugin=True, eplb=True, draft=False))
    assert report.verdict == "undecided"
    assert report.undecided_reason is not None
    assert "does not start with this model" in report.undecided_reason


def test_target_and_draft_are_planned_each_for_itself() -> None:
    report = check(example("deepseek-ai--DeepSeek-R1-0528"), Target(plugin=True, eplb=True))
    by_part = {layer.part: layer.decision for layer in report.layers}
    assert set(by_part) == {"target", "draft"}
    assert all(decision.decision == "separate" for decision in by_part.values())


def test_what_the_plugin_says_is_the_same_in_each_release_but_for_its_name() -> None:
    config = CASES["mxfp4-plain"].checkpoint.config()
    target = Target(gfx="gfx950", draft=False, plugin=True)
    rows = sweep(model_from_dict(config), target, ("0.24.0", "0.26.0", "0.28.0"), ("gfx950",)).rows
    assert len({cell.notes for row in rows for cell in row.cells}) == 1


def test_a_version_in_a_reason_is_not_taken_for_the_number_of_a_layer() -> None:
    report = check(example("amd--Kimi-K2.5-MXFP4"), Target(vllm="0.24.0", plugin=True, draft=False))
    assert "0.24.0" in (report.layers[0].decision.reason or "")
    assert len(groups(report.layers)) == 1


def mixed(row: str, folder: Path) -> Model:
    """A row's checkpoint, but for its second layer, whose shared expert is stored as its routed ones are."""
    own, other = CASES[row].checkpoint, CASES["alike-fp8"].checkpoint
    stored = [one for one in own.tensors() if ".1." not in one.name]
    tensors.write(folder / "model.safetensors", [*stored, *(one for one in other.tensors() if ".1." in one.name)])
    (folder / "config.json").write_text(json.dumps(own.config()))
    return with_headers(read_model(str(folder)), "full", ())


@pytest.mark.parametrize("release", ["0.28.0", "0.33.0"])
def test_of_layers_that_are_stored_unlike_each_is_built_as_it_is_stored(release: str, tmp_path: Path) -> None:
    model, target = mixed("fp8-unlisted", tmp_path), Target(vllm=release, gfx="gfx950", draft=False)
    report, facts = examined(model, target)
    plan = planned(report, facts, facts.parts[0], read({FUSION: "1"}))
    assert plan is not None
    assert plan.refused is not None
    assert {name.rpartition(".")[0] for name in plan.left_out} == {"model.layers.0.mlp.shared_experts"}
    with_it = check(model, replace(target, plugin=True))
    assert {layer.decision.decision for layer in with_it.layers} == {"separate"}
    assert not [one for one in with_it.findings if one.severity == "error"]


@pytest.mark.parametrize("release", ["0.29.0", "0.33.0"])
def test_what_fails_without_fusion_fails_with_the_plugin_too(release: str, tmp_path: Path) -> None:
    model = mixed("fp8-plain", tmp_path)
    report = check(model, Target(vllm=release, gfx="gfx950", draft=False, plugin=True))
    assert {layer.decision.decision for layer in report.layers} == {"separate"}
    told = [(one.rule, one.consequence, one.layers) for one in report.findings if one.severity == "error"]
    assert told == [("FSE102", "load_fails", "1")]
