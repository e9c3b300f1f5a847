"""`POST /v1/batch`: each model's outcome, as one object and as events, and an end when nobody listens."""

import json
import socket
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from service.reports import Reports, Served
from tests.hub_server import HubServer
from tests.service.clients import MODEL, TOKEN, asked, files, problem, serving
from tests.service.processes import STOPPED, service

URL = "/v1/batch"
EVENTS = {"Accept": "text/event-stream"}


def events(text: str) -> list[tuple[str, Any]]:
    """The stream's events as (name, data)."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if line and not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


@pytest.fixture
def three(hub: HubServer) -> list[str]:
    """A model that is there, one that is not, one that is gated."""
    hub.add(MODEL, files())
    hub.add("org/gated", files(), gated=True)
    return [MODEL, "org/missing", "org/gated@main"]


def test_partial_failures_are_told_apart(client: TestClient, three: list[str]) -> None:
    told = client.post(URL, json={"models": three, "target": {"tp": 4}}).json()
    assert (told["succeeded"], told["failed"]) == (1, 2)
    assert [result["model"] for result in told["results"]] == ["org/name@main", "org/missing@main", "org/gated@main"]
    assert [result["index"] for result in told["results"]] == [0, 1, 2]
    assert told["results"][0]["report"] == client.get(f"/v1/models/{MODEL}?tp=4").json()
    assert [result["problem"] and result["problem"]["type"] for result in told["results"]] == [
        None,
        "/problems/not-found",
        "/problems/gated",
    ]
    assert [result["report"] is None for result in told["results"]] == [False, True, True]


@pytest.mark.parametrize("headers", [{}, EVENTS])
def test_a_fault_in_one_model_is_that_models(
    client: TestClient, three: list[str], monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    right = Reports.for_model

    async def broken(self: Reports, model: str, *given: Any) -> Served:
        if model == "org/missing":
            raise RuntimeError("the inner workings")
        return await right(self, model, *given)

    monkeypatch.setattr(Reports, "for_model", broken)
    with capture_logs() as told:
        text = client.post(URL, json={"models": three}, headers=headers).text
    results = [data for name, data in events(text) if name == "result"] if headers else json.loads(text)["results"]
    kinds = {result["model"]: result["problem"] and result["problem"]["type"] for result in results}
    assert kinds == {
        "org/name@main": None,
        "org/missing@main": "/problems/internal-error",
        "org/gated@main": "/problems/gated",
    }
    assert "inner workings" not in text
    assert [line["model"] for line in told if line["event"] == "failed in a batch"] == ["org/missing@main"]


def test_progress_as_events(client: TestClient, three: list[str]) -> None:
    response = client.post(URL, json={"models": three}, headers=EVENTS)
    assert response.headers["content-type"].startswith("text/event-stream")
    *results, end = events(response.text)
    assert [name for name, _ in results] == ["result"] * 3
    assert [data["done"] for _, data in results] == [1, 2, 3]
    assert {data["total"] for _, data in results} == {3}
    assert sorted(data["index"] for _, data in results) == [0, 1, 2]
    assert end[0] == "end"
    assert (end[1]["succeeded"], end[1]["failed"]) == (1, 2)


def test_a_stream_that_is_silent_stays_alive(
    client: TestClient, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.api.batch._SILENCE", 0.1)
    hub.add(MODEL, files())
    hub.fail("/api/models", delay=0.5)
    response = client.post(URL, json={"models": [MODEL]}, headers=EVENTS)
    assert response.text.count(": waiting\n\n") >= 2
    assert [name for name, _ in events(response.text)] == ["result", "end"]


def test_200_models_and_no_more(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    told = client.post(URL, json={"models": [MODEL] * 200}).json()
    assert told["succeeded"] == 200
    assert asked(hub, "/api/models") == 1
    assert problem(client.post(URL, json={"models": [MODEL] * 201}), 422, "invalid-input")["path"] == "models"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "models"),
        ({"models": []}, "models"),
        ({"models": "org/name"}, "models"),
        ({"models": ["org/name", 1]}, "models[1]"),
        ({"models": ["org/name", "name"]}, "models[1]"),
        ({"models": ["https://host/org/name"]}, "models[0]"),
        ({"models": ["org/name@"]}, "models[0]"),
        ({"models": ["org/name"], "target": {"tp": 0}}, "target.tp"),
        ({"models": ["org/name"], "revision": "main"}, "revision"),
    ],
)
def test_what_is_wrong_is_named(client: TestClient, hub: HubServer, body: Any, path: str) -> None:
    assert problem(client.post(URL, json=body), 422, "invalid-input")["path"] == path
    assert hub.requests == []


def test_a_token_is_used_for_all_and_left_nowhere(client: TestClient, three: list[str], hub: HubServer) -> None:
    hub.tokens["hf_reader"] = {"org/gated"}
    response = client.post(URL, json={"models": three}, headers=TOKEN)
    assert (response.json()["succeeded"], response.headers["cache-control"]) == (2, "private, no-store")
    assert client.post(URL, json={"models": three}).json()["succeeded"] == 1


def test_each_model_counts(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, files())
    with serving(tmp_path, rate=10) as client:
        assert client.post(URL, json={"models": [MODEL] * 8}).status_code == 200
        response = client.post(URL, json={"models": [MODEL] * 8})
        problem(response, 429, "rate-limited")
        assert 1 <= int(response.headers["retry-after"]) <= 60


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
def test_a_caller_that_goes_away_ends_the_work(tmp_path: Path, accept: str) -> None:
    with HubServer() as hub:
        names = [f"org/m{number}" for number in range(100)]
        for name in names:
            hub.add(name, files())
        hub.fail("/api/models", delay=0.2)
        with service(tmp_path, hub) as running:
            address = urlsplit(running.url)
            body = json.dumps({"models": names}).encode()
            head = f"POST {URL} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nContent-Type: application/json\r\n"
            with socket.create_connection((address.hostname or "", address.port or 0), timeout=10) as connection:
                connection.sendall(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
                received = b""
                while received.count(b'"index"') < 3:
                    received += connection.recv(65536)
            time.sleep(1.0)
            count = asked(hub, "/api/models")
            time.sleep(1.0)
            assert asked(hub, "/api/models") == count
            assert 3 <= count < 60
            assert running.stop() in STOPPED
            assert "Traceback" not in running.log.read_text()
