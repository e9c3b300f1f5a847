"""`GET .../diff`: what another release changes for a model."""

import pytest
from starlette.testclient import TestClient

from fse_core import Target
from fse_core.output.diff.json import diff_to_dict
from fse_core.read.source import model_from_dict
from fse_core.upgrade import upgrade
from tests.hub_server import HubServer
from tests.output.schemas import validator
from tests.service.browser.models import CONFIGS
from tests.service.clients import CONFIG, MODEL, TOKEN, files, problem

URL = f"/v1/models/{MODEL}/diff"


def test_the_diff_is_that_of_fse_diff(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    told = client.get(f"{URL}?from=0.24.0&to=0.33.0&gfx=gfx950&tp=4").json()
    made = diff_to_dict(upgrade(model_from_dict(CONFIG), Target(gfx="gfx950", tp=4), "0.24.0", "0.33.0"))
    assert told.pop("source")["id"] == MODEL
    made.pop("source")
    assert told == made
    validator("diff").validate(client.get(f"{URL}?from=0.24.0&to=latest").json())


def test_worse_better_and_the_same(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files(CONFIGS["org/apart"]))
    outcomes = {
        ends: client.get(f"{URL}?from={ends[0]}&to={ends[1]}").json()["outcome"]
        for ends in (("0.33.0", "0.28.0"), ("0.28.0", "0.33.0"), ("0.29.0", "0.29.0"))
    }
    assert list(outcomes.values()) == ["worse", "better", "same"]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("", "from"),
        ("from=0.31.0", "to"),
        ("from=0.31.0&from=0.30.0&to=0.33.0", "from"),
        ("from=0.1.0&to=0.33.0", "from"),
        ("from=0.31.0&to=none", "to"),
        ("from=0.31.0&to=0.33.0&vllm=0.33.0", "vllm"),
        ("from=0.31.0&to=0.33.0&gfx=gfx942&gfx=gfx950", "gfx"),
        ("from=0.23.0&to=0.33.0&moe_backend=flydsl", "moe_backend"),
        ("from=0.33.0&to=0.23.0&moe_backend=flydsl", "moe_backend"),
    ],
)
def test_what_is_wrong_is_named(client: TestClient, hub: HubServer, query: str, path: str) -> None:
    assert problem(client.get(f"{URL}?{query}"), 422, "invalid-input")["path"] == path
    assert hub.requests == []


def test_what_may_be_kept(client: TestClient, hub: HubServer) -> None:
    commit = hub.add(MODEL, files()).refs["main"]
    branch = client.get(f"{URL}?from=0.31.0&to=latest&tp=2")
    assert branch.headers["cache-control"] == "public, max-age=60"
    place = branch.headers["content-location"]
    assert place == f"{URL}?revision={commit}&from=0.31.0&to=0.33.0&gfx=gfx942&tp=2"
    exact = client.get(place)
    assert "immutable" in exact.headers["cache-control"]
    assert "content-location" not in exact.headers
    assert client.get(place, headers={"If-None-Match": exact.headers["etag"]}).status_code == 304
    assert "immutable" not in client.get(f"{URL}?revision={commit}&from=0.31.0&to=latest").headers["cache-control"]


def test_a_token_opens_it_for_one_request(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files(), private=True)
    hub.tokens["hf_reader"] = {MODEL}
    assert client.get(f"{URL}?from=0.31.0&to=0.33.0", headers=TOKEN).headers["cache-control"] == "private, no-store"
    problem(client.get(f"{URL}?from=0.31.0&to=0.33.0"), 404, "not-found")


def test_a_shipped_model(client: TestClient, hub: HubServer) -> None:
    place = "/v1/examples/deepseek-ai/DeepSeek-V4-Flash/diff?from=0.29.0&to=0.31.0"
    told = client.get(place).json()
    validator("diff").validate(told)
    assert (told["outcome"], told["new"]["verdict"], told["new"]["target"]["tp"]) == ("worse", "breaks", 8)
    assert [step["vllm"] for step in told["steps"]] == ["0.30.0"]
    assert client.get(f"{place}&tp=2").json()["new"]["target"]["tp"] == 2
    problem(client.get("/v1/examples/no/such/diff?from=0.29.0&to=0.31.0"), 404, "not-found")
    assert hub.requests == []
