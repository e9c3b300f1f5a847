"""The shipped models, and what is told where the Hub is away."""

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from examples.check import Example, examples
from fse_core.output.json import report_to_dict
from tests.hub_server import HubServer
from tests.service.clients import problem, serving


def test_the_list(client: TestClient, hub: HubServer) -> None:
    response = client.get("/v1/examples")
    told = {item["name"]: item for item in response.json()["examples"]}
    assert set(told) == {example.name for example in examples()}
    for example in examples():
        item = told[example.name]
        assert item["verdict"] == example.expected["verdict"]
        assert item["made_up"] == example.name.startswith("example/")
        report = client.get(item["report"]).json()
        assert (report["verdict"], report["target"]) == (item["verdict"], item["target"])
    assert client.get("/v1/examples", headers={"If-None-Match": response.headers["etag"]}).status_code == 304
    assert hub.requests == []


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_a_report_is_that_of_the_command_line(client: TestClient, example: Example) -> None:
    told = client.get(f"/v1/examples/{example.name}").json()
    expected = json.loads(json.dumps(report_to_dict(example.check())))
    for field in ("verdict", "layers", "startup_error", "model", "requested"):
        assert told[field] == expected[field]
    assert told["source"] == {"kind": "inline", "id": example.name, "revision": None, "commit": None}


def test_parameters(client: TestClient) -> None:
    url = "/v1/examples/zai-org/GLM-5.3-Flash"
    assert client.get(url).json()["verdict"] == "separate"
    assert client.get(f"{url}?gfx=gfx950&tp=8").json()["verdict"] == "fuses"
    assert problem(client.get(f"{url}?revision=main"), 422, "invalid-input")["path"] == "revision"
    problem(client.get("/v1/examples/org/none"), 404, "not-found")


def test_a_shipped_model_is_answered_without_the_hub_and_says_so(client: TestClient, hub: HubServer) -> None:
    hub.fail("", status=503)
    response = client.get("/v1/models/deepseek-ai/DeepSeek-R1-0528?tp=8")
    assert response.json()["verdict"] == "fuses"
    assert response.json()["source"]["commit"] is None
    assert "shipped with the service" in response.headers["warning"]
    assert response.headers["cache-control"] == "no-cache"
    problem(client.get("/v1/models/deepseek-ai/DeepSeek-R1-0528?revision=other"), 503, "upstream-unavailable")
    problem(client.get("/v1/models/example/DeepSeek-V2-Lite-FP8-per-tensor"), 503, "upstream-unavailable")


def test_a_folder_without_examples_or_with_a_broken_one(tmp_path: Path) -> None:
    with serving(tmp_path, examples=tmp_path / "none") as client:
        assert client.get("/v1/examples").json()["examples"] == []
    for name, config in (("a--good", b'{"architectures": ["A"]}'), ("a--bad", b"{")):
        (tmp_path / "some" / name).mkdir(parents=True)
        (tmp_path / "some" / name / "config.json").write_bytes(config)
    with serving(tmp_path, examples=tmp_path / "some") as client:
        assert [item["name"] for item in client.get("/v1/examples").json()["examples"]] == ["a/good"]
