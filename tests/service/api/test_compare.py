"""`GET /v1/compare`: two models or two targets, and what differs."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from tests.hub_server import HubServer
from tests.output.test_json import SCHEMA
from tests.service.clients import CONFIG, MODEL, TOKEN, files, problem

URL = "/v1/compare"
OTHER = "org/other"


@pytest.fixture(autouse=True)
def two(hub: HubServer) -> None:
    hub.add(MODEL, files())
    hub.add(OTHER, files({**CONFIG, "architectures": ["Qwen2MoeForCausalLM"], "quantization_config": None}))


def get(client: TestClient, query: str) -> Any:
    response = client.get(f"{URL}?{query}")
    assert response.status_code == 200, response.text
    return response.json()


def test_two_targets_of_one_model(client: TestClient) -> None:
    told = get(client, "a=org/name&gfx=gfx942&tp=8&b.gfx=gfx90a")
    assert told["target_differences"] == {"gfx": {"a": "gfx942", "b": "gfx90a"}}
    assert told["verdicts"] == {"a": "fuses", "b": "separate"}
    assert told["same"] is False
    differing = [(entry["part"], entry["layers"]) for entry in told["layer_differences"]]
    assert differing == [("target", [3, 4]), ("draft", [5])]
    entry = told["layer_differences"][0]
    assert (entry["a"]["decision"], entry["b"]["decision"]) == ("fused", "separate")
    for side, query in (("a", "gfx=gfx942&tp=8"), ("b", "gfx=gfx90a&tp=8")):
        assert told[side] == client.get(f"/v1/models/{MODEL}?{query}").json()
        Draft202012Validator(SCHEMA).validate(told[side])


def test_two_models(client: TestClient, hub: HubServer) -> None:
    told = get(client, "a=org/name@main&b=org/other&tp=2")
    assert told["target_differences"] == {}
    assert told["a"]["source"]["id"] != told["b"]["source"]["id"]
    assert told["same"] is False


def test_the_same_twice(client: TestClient) -> None:
    told = get(client, "a=org/name&a.tp=2&b.tp=2")
    assert (told["same"], told["layer_differences"], told["target_differences"]) == (True, [], {})
    assert get(client, "a=org/name&tp=4&a.tp=2&b.tp=2") == told


def test_what_may_be_kept(client: TestClient, hub: HubServer) -> None:
    commit = hub.repos[MODEL].refs["main"]
    branch = client.get(f"{URL}?a=org/name&b.tp=2")
    assert branch.headers["cache-control"] == "public, max-age=60"
    tag = branch.headers["etag"]
    assert client.get(f"{URL}?a=org/name&b.tp=2", headers={"If-None-Match": tag}).status_code == 304
    for query, fixed in (
        (f"a=org/name@{commit}&vllm=0.33.0&b.tp=2", True),
        (f"a=org/name@{commit}&a.vllm=0.33.0&b.vllm=0.33.0", True),
        (f"a=org/name@{commit}&b.tp=2", False),
        (f"a=org/name@{commit}&vllm=latest", False),
        (f"a=org/name@{commit}&vllm=0.33.0&b.vllm=latest", False),
        (f"a=org/name@{commit}&vllm=0.33.0&b=org/name", False),
    ):
        assert ("immutable" in client.get(f"{URL}?{query}").headers["cache-control"]) is fixed, query
    hub.tokens["hf_reader"] = set()
    private = client.get(f"{URL}?a=org/name@{commit}", headers=TOKEN)
    assert private.headers["cache-control"] == "private, no-store"
    assert "etag" not in private.headers


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("", "a"),
        ("a=name", "a"),
        ("a=org/name&b=x", "b"),
        ("a=org/name&a=org/name", "a"),
        ("a=org/name&tp=0", "tp"),
        ("a=org/name&b.tp=0", "b.tp"),
        ("a=org/name&b.xx=0", "b.xx"),
        ("a=org/name&c.tp=1", "c.tp"),
        ("a=org/name&a.tp=1&a.tp=2", "a.tp"),
    ],
)
def test_what_is_wrong_is_named(client: TestClient, query: str, path: str) -> None:
    assert problem(client.get(f"{URL}?{query}"), 422, "invalid-input")["path"] == path


def test_a_model_that_is_not_there(client: TestClient) -> None:
    assert client.get(f"/v1/models/{MODEL}").status_code == 200
    assert "org/none" in problem(client.get(f"{URL}?a=org/name&b=org/none"), 404, "not-found")["detail"]
