"""What goes wrong, surely or likely, never looks as if it were well: on no page and in no badge."""

import json
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from fse_core import Target, check
from fse_core.output.json import report_to_dict
from fse_core.read.source import model_from_dict
from fse_core.report import Source
from service import badge
from service.doubt import doubtful
from service.pages.findings import told
from service.pages.layers import layers_of
from service.pages.remedies import Subject
from service.pages.verdict import verdict_of
from service.pages.view import view_of
from tests.hub_server import HubServer
from tests.service.browser.models import CONFIGS
from tests.service.clients import MODEL, NVFP4, files

HTML = {"Accept": "text/html"}
GREEN = b"#2e7d32"


def _report(config: dict[str, Any], quant: dict[str, Any] | None = None, **target: Any) -> dict[str, Any]:
    return report_to_dict(check(model_from_dict(config, quant), Target(**target)))


def _bad() -> list[dict[str, Any]]:
    plain = {key: value for key, value in CONFIGS["org/fused"].items() if key != "quantization_config"}
    return [_report(CONFIGS["org/apart"], vllm="0.28.0"), _report(plain, NVFP4, vllm="0.27.0")]


def test_the_two_kinds_are_there() -> None:
    breaks, risky = _bad()
    assert breaks["verdict"] == "breaks"
    assert risky["verdict"] == "fuses"
    assert doubtful(risky)
    assert not doubtful(_report(CONFIGS["org/fused"]))


@pytest.mark.parametrize("place", [0, 1])
def test_verdict_strip_and_badge(place: int) -> None:
    report = _bad()[place]
    layers = layers_of(report)
    assert verdict_of(report, layers).state in ("breaks", "risky")
    assert "fused" not in {run.state for run in layers.runs if run.part == "target"}
    assert GREEN not in badge.of_report(report)
    assert "wrong" in verdict_of(report).sentence


def test_a_sound_one_is_green() -> None:
    report = _report(CONFIGS["org/fused"])
    assert GREEN in badge.of_report(report)
    assert verdict_of(report).state == "fused"


def test_where_one_layer_breaks_the_others_are_fused_in_vain() -> None:
    names = [f"model.layers.3.mlp.shared_experts.{part}_proj" for part in ("gate", "up", "down")]
    config = {**CONFIGS["org/fused"]}
    config["quantization_config"] = {**config["quantization_config"], "ignored_layers": names}
    report = _report(config, vllm="0.28.0")
    states = {run.indices: run.state for run in layers_of(report).runs}
    assert states == {(0, 1, 2): "none", (3,): "breaks", (4,): "futile", (5,): "futile"}
    assert "in all 2 MoE layers" in verdict_of(report).sentence
    assert "in 1 of them its weights are then silently wrong" in verdict_of(report).sentence


def test_layers_that_fuse_in_a_start_that_fails() -> None:
    config = {**CONFIGS["org/fused"]}
    one = [f"model.layers.3.mlp.shared_experts.{part}_proj" for part in ("gate", "up", "down")]
    config["quantization_config"] = {**config["quantization_config"], "ignored_layers": one}
    report = _report(config, vllm="0.33.0")
    assert report["verdict"] == "fails"
    assert "fused" not in {run.state for run in layers_of(report).runs}


def test_an_error_that_changes_no_verdict_is_in_the_sentence() -> None:
    report = _report(CONFIGS["org/apart"], vllm="0.33.0")
    assert "see the findings" not in verdict_of(report).sentence
    finding = {**_bad()[0]["findings"][0], "confidence": "likely"}
    assert "see the findings" in verdict_of({**report, "findings": [finding]}).sentence


def test_the_pages(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files(CONFIGS["org/apart"]))
    page = client.get(f"/models/{MODEL}?vllm=0.28.0", headers=HTML).text
    assert "is-fused" not in page
    compared = client.get(f"/compare?a={MODEL}&vllm=0.28.0", headers=HTML).text
    assert "is-fused" not in compared
    matrix = client.get(f"/models/{MODEL}/matrix?vllm=0.20.0..0.28.0", headers=HTML).text
    assert "is-fused" not in matrix
    for ends in ("from=0.28.0&to=0.33.0", "from=0.33.0&to=0.28.0", "from=0.27.0&to=0.28.0"):
        assert "is-fused" not in client.get(f"/models/{MODEL}/upgrade?{ends}", headers=HTML).text
    home = client.get("/?vllm=0.28.0", headers=HTML).text
    row = re.findall(r"<tr>(?:(?!</tr>).)*DeepSeek-V3-0324-NVFP4.*?</tr>", home, re.DOTALL)[0]
    assert "fuses, at risk" in row
    assert "is-fused" not in row


def test_a_finding_is_shown_with_evidence_and_what_to_paste(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files(CONFIGS["org/apart"]))
    page = client.get(f"/models/{MODEL}?vllm=0.28.0", headers=HTML).text
    report = client.get(f"/v1/models/{MODEL}?vllm=0.28.0").json()
    assert report["findings"]
    for finding in report["findings"]:
        assert f"{finding['rule']} {finding['name']}" in page
        for line in finding["evidence"]:
            assert line in page
    assert "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS=0</code>" in page
    for link in re.findall(r'href="([^"]*)">Check with this', page):
        assert client.get(link.replace("&amp;", "&"), headers=HTML).status_code == 200


def test_every_kind_of_fix_has_something_to_do() -> None:
    fixes = [
        {"kind": "env", "patch": {"A": "1 2"}},
        {"kind": "flag", "patch": {"enable_expert_parallel": True, "moe_backend": "aiter"}},
        {"kind": "flag", "patch": {"--ep": True}},
        {
            "kind": "quantization_config",
            "patch": {"vllm": "0.32.0", "quantization_config": {"targets": {"*": "mxfp4"}}},
        },
        {"kind": "config_patch", "patch": {"quantization_config": {"exclude": ["a"]}}},
        {"kind": "release", "patch": {"vllm": "0.29.0"}},
        {"kind": "release", "patch": {"vllm": "0.1.0"}},
    ]
    told_fixes = [{**fix, "summary": "do it", "safety": "lossless"} for fix in fixes]
    finding = {**_bad()[0]["findings"][0], "fixes": told_fixes}
    target = Target(vllm="0.28.0")
    subject = Subject(target=target, place=lambda target: f"{target.vllm} {target.environment} {target.ep}")
    (one,) = told([finding], subject)
    assert [[paste.text for paste in fix.pastes] for fix in one.fixes] == [
        ["A='1 2'"],
        ["--enable-expert-parallel \\\n--moe-backend aiter"],
        ["--enable-expert-parallel"],
        [f"--quantization-config '{json.dumps({'targets': {'*': 'mxfp4'}})}'"],
        ['{\n  "quantization_config": {\n    "exclude": [\n      "a"\n    ]\n  }\n}'],
        [],
        [],
    ]
    links = ["0.28.0 {'A': '1 2'} False", "", "0.28.0 {} True", "0.32.0 {} False", "", "0.29.0 {} False", ""]
    assert [fix.link for fix in one.fixes] == links


def test_the_launch_command_and_the_change_of_the_config_are_there_to_copy() -> None:
    finding = {**_bad()[0]["findings"][0]}
    finding["fixes"] = [
        {"kind": "env", "patch": {"A": "1"}, "summary": "do it", "safety": "lossless"},
        {"kind": "config_patch", "patch": {"b": {"c": 2}}, "summary": "do it", "safety": "changes-numerics"},
    ]
    config = '{\n  "a": 1,\n  "b": {"c": 1}\n}'
    source = Source(kind="hub", id="org/name", commit="c" * 40)
    (one,) = told([finding], Subject(target=Target(tp=4), source=source, config=config))
    env, patch = one.fixes
    assert [paste.folded for paste in env.pastes] == [False, True]
    serve = f"A=1 \\\nvllm serve org/name \\\n  --revision {'c' * 40} \\\n  --tensor-parallel-size 4"
    assert serve in env.pastes[1].text
    assert patch.safety == "changes numerics"
    difference, merged = patch.pastes
    assert difference.text.splitlines()[:2] == ["--- a/config.json", "+++ b/config.json"]
    assert '-  "b": {"c": 1}\n+  "b": {"c": 2}\n' in difference.text
    assert (json.loads(merged.text), merged.folded) == ({"b": {"c": 2}}, True)


@pytest.mark.parametrize("config", [json.dumps({"a": "x" * 30_000}), "{" + " " * 5_000_000 + "}", '{"b": 1'])
def test_a_change_that_nobody_can_read_is_told_as_json(config: str) -> None:
    finding = {**_bad()[0]["findings"][0]}
    finding["fixes"] = [{"kind": "config_patch", "patch": {"b": 2}, "summary": "do it", "safety": "lossless"}]
    (one,) = told([finding], Subject(target=Target(), config=config))
    assert [(paste.text, paste.folded) for paste in one.fixes[0].pastes] == [('{\n  "b": 2\n}', False)]


def test_where_what_is_fused_breaks_no_bytes_are_told() -> None:
    model = model_from_dict(CONFIGS["org/apart"])
    report = _report(CONFIGS["org/apart"], vllm="0.28.0")
    view = view_of(report, model.source, Target(vllm="0.28.0"), model)
    assert view.slots is None
    assert "goes wrong" in view.slots_unknown
