"""The Hub is down, slow, or not the Hub: what is known is served with its age, and nobody waits for ever."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.hub_server import HubServer
from tests.service.clients import MODEL, URL, asked, files, problem, serving
from tests.service.processes import service


def test_down_at_start_then_back(tmp_path: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.facts._PASSING_SECONDS", 0.2)
    hub.add(MODEL, files())
    hub.fail("", status=503)
    with serving(tmp_path) as client:
        response = client.get(URL)
        problem(response, 503, "upstream-unavailable")
        assert int(response.headers["retry-after"]) >= 1
        assert client.get("/readyz").status_code == 200
        hub.faults.clear()
        time.sleep(0.25)
        assert client.get(URL).status_code == 200


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"status": 429, "headers": {"Retry-After": "20"}},
        {"hang_up": True},
        {"body": b"<html>garbage"},
        {"body": b'{"sha": 7}'},
    ],
    ids=str,
)
def test_the_last_known_report_is_served_with_its_age(tmp_path: Path, hub: HubServer, fault: dict[str, Any]) -> None:
    hub.add(MODEL, files())
    with serving(tmp_path, branch_seconds=0.5) as client:
        first = client.get(URL)
        time.sleep(1.1)
        hub.fail("/api/models", **fault)
        stale = client.get(URL)
        assert stale.content == first.content
        assert stale.headers["etag"] == first.headers["etag"]
        assert 1 <= int(stale.headers["age"]) <= 10
        assert stale.headers["warning"].startswith('111 - "The Hub ')
        assert stale.headers["cache-control"] == "no-cache"
        count = len(hub.requests)
        assert client.get(URL, params={"tp": "2"}).headers["age"]
        assert len(hub.requests) == count
        at_commit = client.get(URL, params={"revision": first.json()["source"]["commit"]})
        assert "age" not in at_commit.headers


def test_pages_and_batches_say_how_old_an_answer_is(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, files())
    with serving(tmp_path, branch_seconds=0.0) as client:
        fresh = client.post("/v1/batch", json={"models": [MODEL]}).json()["results"][0]
        assert (fresh["warning"], fresh["age"]) == (None, None)
        words = "this is the last known answer. It is as known less than a minute ago."
        for path in (f"/models/{MODEL}", f"/compare?a={MODEL}"):
            assert words not in client.get(path).text
        hub.fail("/api/models", status=500)
        for path, count in ((f"/models/{MODEL}", 1), (f"/compare?a={MODEL}", 2)):
            assert client.get(path).text.count(words) == count
        stale = client.post("/v1/batch", json={"models": [MODEL]}).json()["results"][0]
        assert stale["warning"].endswith("this is the last known answer.")
        assert 0 <= stale["age"] <= 10
        assert stale["report"] == fresh["report"]


def test_what_the_hub_says_about_the_model_is_not_hidden_by_what_is_known(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, files())
    with serving(tmp_path, branch_seconds=0.0) as client:
        assert client.get(URL).status_code == 200
        hub.repos.clear()
        problem(client.get(URL), 404, "not-found")


def test_it_breaks_off_in_the_middle(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    hub.fail("GET /org/name/resolve", cut=10, times=20)
    response = client.get(URL)
    assert response.status_code in (502, 503)
    assert response.headers["content-type"] == "application/problem+json"


def test_a_slow_hub(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, files())
    hub.fail("/api/models", delay=30)
    with serving(tmp_path, hub_seconds=1.0) as client:
        started = time.monotonic()
        problem(client.get(URL), 503, "upstream-unavailable")
        assert time.monotonic() - started < 3
        assert client.get("/livez").status_code == 200


@pytest.mark.parametrize("body", [b"", b"[1, 2]", b"\xff\xfe", b"[" * 100_000, b'{"a": 1' + b" " * 100])
def test_a_config_that_is_garbage(client: TestClient, hub: HubServer, body: bytes) -> None:
    hub.add(MODEL, {"config.json": body})
    told = problem(client.get(URL), 422, "unreadable-config")
    assert told["path"].startswith("config.json")
    count = len(hub.requests)
    problem(client.get(URL), 422, "unreadable-config")
    assert len(hub.requests) == count


def test_a_config_beyond_all_bounds(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, {"config.json": b" " * (9 * 1024 * 1024)})
    problem(client.get(URL), 422, "unreadable-config")


def test_one_fetch_however_many_ask(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    hub.fail("/api/models", delay=0.5)
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda number: client.get(URL, params={"tp": str(1 + number % 4)}), range(100)))
    assert {answer.status_code for answer in answers} == {200}
    assert asked(hub, "/api/models/") == 1
    assert asked(hub, "GET /org/name/resolve") == 1


def test_one_refusal_however_many_ask(client: TestClient, hub: HubServer) -> None:
    hub.fail("/api/models", delay=0.5)
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: client.get(URL), range(100)))
    assert {answer.status_code for answer in answers} == {404}
    assert asked(hub, "/api/models/") == 1


def test_one_fetch_by_two_workers(tmp_path: Path) -> None:
    with HubServer() as hub:
        hub.add(MODEL, files())
        hub.fail("/api/models", delay=1.0)
        with service(tmp_path, hub, FSE_WORKERS="2") as running:
            assert answers_of_500(running.url) == {200: 500}
        assert asked(hub, "/api/models/") == 1
        assert asked(hub, "GET /org/name/resolve") == 1


def answers_of_500(*urls: str) -> dict[int, int]:
    """How often each status came back for 500 requests at once, spread over the addresses."""
    import asyncio
    from collections import Counter

    import httpx2

    async def run() -> Counter[int]:
        limits = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(limits=limits, timeout=60) as client:
            asking = (client.get(urls[number % len(urls)] + URL) for number in range(500))
            return Counter(answer.status_code for answer in await asyncio.gather(*asking))

    return dict(asyncio.run(run()))
