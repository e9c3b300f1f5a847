"""`GET /v1/releases`, and what the choice of a release does elsewhere in the API."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from fse_core import releases
from fse_core.output.releases.json import releases_to_dict
from fse_core.releases.history import history
from service import targets
from tests.hub_server import HubServer
from tests.output.schemas import validator
from tests.service.clients import CONFIG, MODEL, URL, files, problem


def test_the_list_is_that_of_fse_releases(client: TestClient) -> None:
    response = client.get("/v1/releases")
    assert response.json() == releases_to_dict(history())
    validator("releases").validate(response.json())
    tag = response.headers["etag"]
    assert client.get("/v1/releases", headers={"If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize("version", releases.known())
def test_each_release_has_an_entry(client: TestClient, version: str) -> None:
    assert client.get(f"/v1/releases/{version}").json() == releases_to_dict(history([version]))


def test_other_names_of_a_release(client: TestClient) -> None:
    newest = client.get(f"/v1/releases/{releases.known()[-1]}").content
    assert client.get("/v1/releases/latest").content == newest
    assert client.get("/v1/releases/v0.19.1+rocm721").content == client.get("/v1/releases/0.19.1").content


@pytest.mark.parametrize("version", ["0.34.0", "0.1.0", "0.33.1rc1", "nightly", "0.33.0rc1", "x" * 200])
def test_what_is_not_known_has_none(client: TestClient, version: str) -> None:
    problem(client.get(f"/v1/releases/{version}"), 404, "not-found")


@pytest.mark.parametrize("version", ["0.34.0", "0.33.1", "0.33.0rc1"])
def test_a_version_that_is_not_known_is_answered_with_a_finding(
    client: TestClient, hub: HubServer, version: str
) -> None:
    hub.add(MODEL, files())
    body = {"config": CONFIG, "target": {"vllm": version}}
    for response in (client.get(f"{URL}?vllm={version}"), client.post("/v1/check", json=body)):
        report = response.json()
        assert report["target"]["vllm"] == "0.33.0"
        assert [finding["name"] for finding in report["findings"]] == ["unknown-release"]
        assert version in report["findings"][0]["message"]
        assert "immutable" not in response.headers["cache-control"]


def test_every_choice_that_is_documented_is_one_of_some_release() -> None:
    schemas: dict[str, Any] = {parameter.name: parameter.schema for parameter in targets.PARAMETERS}
    for option in ("moe_backend", "all2all_backend"):
        for name in schemas[option]["enum"]:
            having = [version for version in releases.known() if name in releases.load(version).choices[option]]
            assert having, name
            for version in having:
                target = targets.from_query([("vllm", version), (option, name)])
                assert (target.vllm, getattr(target, option)) == (version, name)


def test_a_choice_of_another_release_is_refused(client: TestClient, hub: HubServer) -> None:
    told = problem(client.get(f"{URL}?vllm=0.33.0&all2all_backend=mori"), 422, "invalid-input")
    assert told["path"] == "all2all_backend"
    assert "mori_high_throughput" in told["detail"]
    sent = {"config": CONFIG, "target": {"vllm": "0.11.1", "all2all_backend": "mori"}}
    assert problem(client.post("/v1/check", json=sent), 422, "invalid-input")["path"] == "target.all2all_backend"
    assert hub.requests == []


def test_batch_and_comparison_take_a_release(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    sent = {"models": [MODEL], "target": {"vllm": "0.27.0"}}
    (result,) = client.post("/v1/batch", json=sent).json()["results"]
    assert result["report"]["target"]["vllm"] == "0.27.0"
    told = client.get(f"/v1/compare?a={MODEL}&a.vllm=0.27.0&b.vllm=0.33.0").json()
    assert told["target_differences"]["vllm"] == {"a": "0.27.0", "b": "0.33.0"}
