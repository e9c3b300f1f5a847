"""Many requests of one client: others get their turn, and nobody is told that the Hub is at fault."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from socket import create_connection
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.types import Message, Receive, Scope

from service.lane import Lane, asking
from service.limits import Limited, client
from service.problems import Problem
from tests.hub_server import HubServer
from tests.service.clients import MODEL, URL, files, serving, settings
from tests.service.processes import service


def from_address(address: str) -> dict[str, str]:
    return {"X-Forwarded-For": address}


def test_a_batch_leaves_places_at_the_hub_to_others(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, files())
    hub.fail("/api/models/slow", delay=1.0)
    names = [f"slow/{number}" for number in range(8)]
    with serving(tmp_path, hub_most=2, hub_seconds=30, trust_forwarded=True) as client, ThreadPoolExecutor(1) as pool:
        batch = pool.submit(client.post, "/v1/batch", json={"models": names}, headers=from_address("1.1.1.1"))
        time.sleep(0.3)
        started = time.monotonic()
        assert client.get(URL, headers=from_address("2.2.2.2")).status_code == 200
        assert time.monotonic() - started < 2
        assert {result["problem"]["type"] for result in batch.result().json()["results"]} == {"/problems/not-found"}


def test_busy_is_no_answer_about_the_model(tmp_path: Path, hub: HubServer) -> None:
    names = [f"org/m{number}" for number in range(4)]
    for name in names:
        hub.add(name, files())
    hub.fail("/api/models", delay=30)
    with serving(tmp_path, hub_most=1, hub_seconds=1.0) as client:
        results = client.post("/v1/batch", json={"models": names}).json()["results"]
        busy = [number for number, result in enumerate(results) if result["problem"]["type"] == "/problems/busy"]
        assert len(busy) >= 2
        hub.faults.clear()
        for number in busy:
            assert client.get(f"/v1/models/{names[number]}").status_code == 200


def test_turns_go_round() -> None:
    async def run() -> list[str]:
        lane = Lane("pieces of work", 2, each=1, waiting=3)
        order: list[str] = []

        async def work(who: str) -> None:
            asking.set(who)
            async with lane.place(5):
                order.append(who)
                await asyncio.sleep(0.01)

        await asyncio.gather(*(work(who) for who in "aaaabbbc"))
        return order

    order = asyncio.run(run())
    assert order[:3] == ["a", "b", "c"]
    assert sorted(order) == sorted("aaaabbbc")


def test_a_place_is_given_back_whatever_happens() -> None:
    async def hold(lane: Lane, seconds: float) -> None:
        async with lane.place(0.05):
            await asyncio.sleep(seconds)

    async def run() -> None:
        lane = Lane("pieces of work", 1, each=1, waiting=1)
        holding = asyncio.ensure_future(hold(lane, 30))
        await asyncio.sleep(0)
        waiting = asyncio.ensure_future(hold(lane, 0))
        await asyncio.sleep(0)
        with pytest.raises(Problem, match="too many of this client's"):
            await hold(lane, 0)
        with pytest.raises(Problem, match="no place became free"):
            await waiting
        chosen = asyncio.ensure_future(hold(lane, 0))
        await asyncio.sleep(0)
        holding.cancel()
        await asyncio.gather(holding, return_exceptions=True)
        chosen.cancel()  # its turn has come, and it does not know yet
        await asyncio.gather(chosen, return_exceptions=True)
        await hold(lane, 0)

    asyncio.run(run())


def test_unfinished_large_bodies_are_few(tmp_path: Path) -> None:
    async def app(scope: Scope, receive: Receive, send: Callable[[Message], Awaitable[None]]) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    def answered(request: Any, problem: Problem) -> Any:
        async def refused(scope: Scope, receive: Receive, send: Callable[[Message], Awaitable[None]]) -> None:
            await send({"type": "http.response.start", "status": problem.status, "headers": []})

        return refused

    chosen = settings(tmp_path, body_seconds=0.6)
    limited = Limited(app, chosen, answered)

    async def post(address: str, parts: list[bytes], *, whole: bool) -> int:
        left = iter(parts)

        async def receive() -> Message:
            part = next(left, None)
            if part is None:
                await asyncio.sleep(30)
            return {"type": "http.request", "body": part, "more_body": not whole}

        statuses: list[int] = []

        async def send(message: Message) -> None:
            statuses.append(message["status"])

        scope = {"type": "http", "method": "POST", "path": "/v1/check", "headers": [], "client": (address, 1)}
        await limited({**scope, "state": {"settings": chosen}}, receive, send)
        return statuses[0]

    async def run() -> None:
        dribbling = [asyncio.ensure_future(post("1.1.1.1", [b"x" * 100_000], whole=False)) for _ in range(5)]
        await asyncio.sleep(0)
        assert await post("1.1.1.1", [b"x" * 100], whole=True) == 200
        assert await post("2.2.2.2", [b"x" * 100_000], whole=True) == 200
        assert sorted(await asyncio.gather(*dribbling)) == [408, 408, 408, 408, 503]
        assert await post("1.1.1.1", [b"x" * 100_000], whole=True) == 200

    asyncio.run(run())


def test_a_body_that_dribbles_in_is_given_up(tmp_path: Path) -> None:
    with service(tmp_path, FSE_BODY_SECONDS="1") as running:
        address = urlsplit(running.url)
        with closing(create_connection((address.hostname or "", address.port or 0), timeout=10)) as connection:
            connection.sendall(b"POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
            started = time.monotonic()
            answer = b""
            while not answer and time.monotonic() - started < 8:
                connection.sendall(b"x")
                connection.settimeout(0.2)
                try:
                    answer = connection.recv(65536)
                except TimeoutError:
                    continue
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert b"content-type: application/problem+json\r\n" in answer
            assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("address", "who"),
    [
        ("1.2.3.4", "1.2.3.4"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("::ffff:1.2.3.4", "1.2.3.4"),
        ("fe80::1%eth0", "fe80::/64"),
        ("1.2.3.4:80", "1.2.3.4:80"),
    ],
)
def test_who_asks(address: str, who: str) -> None:
    scope: dict[str, Any] = {"client": (address, 1), "headers": [(b"x-forwarded-for", address.encode())]}
    assert client(scope, trust_forwarded=False) == who
    assert client(scope, trust_forwarded=True) == who
