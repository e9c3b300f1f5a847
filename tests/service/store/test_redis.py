"""The Redis store: the same promises, for several replicas, which also share the rate limit."""

import asyncio
import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import redis
from starlette.testclient import TestClient

from service.store.base import StoreUnavailable
from service.store.redis import RedisStore
from tests.hub_server import HubServer
from tests.service.clients import MODEL, URL, asked, files, problem, serving
from tests.service.faults.test_hub import answers_of_500
from tests.service.processes import free_port, service
from tests.service.store.redis_server import redis_server


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with redis_server() as started:
        yield started


def on_redis(url: str, work: Callable[[RedisStore, RedisStore], Awaitable[None]]) -> None:
    async def run() -> None:
        one, other = RedisStore(url), RedisStore(url)
        try:
            await work(one, other)
        finally:
            await one.close()
            await other.close()

    asyncio.run(run())


def test_what_is_put_is_there_for_others(url: str) -> None:
    async def work(one: RedisStore, other: RedisStore) -> None:
        assert await one.get("report", "a") is None
        await one.put("report", "a", b"\0one" * 5000)
        entry = await other.get("report", "a")
        assert entry is not None
        assert entry.value == b"\0one" * 5000
        assert await other.get("files", "a") is None
        await other.forget("report", "a")
        assert await one.get("report", "a") is None

    on_redis(url, work)


def test_a_damaged_value_is_none(url: str) -> None:
    async def work(one: RedisStore, _: RedisStore) -> None:
        for value in (b"", b"abc", b"12345678not packed"):
            await one._redis.set("fse:1:report:damaged", value)
            assert await one.get("report", "damaged") is None

    on_redis(url, work)


def test_one_claim_for_all(url: str) -> None:
    async def work(one: RedisStore, other: RedisStore) -> None:
        assert sum(await asyncio.gather(*(store.claim("a", 5) for store in (one, other) * 20))) == 1
        holder, waiter = (one, other) if await one._redis.get("fse:1:claim:a") == one._owner.encode() else (other, one)
        await waiter.unclaim("a")
        assert not await waiter.claim("a", 5)
        await holder.unclaim("a")
        assert await waiter.claim("a", 0.05)
        await asyncio.sleep(0.1)
        assert await holder.claim("a", 5)

    on_redis(url, work)


def test_hits_are_counted_together_and_end(url: str) -> None:
    async def work(one: RedisStore, other: RedisStore) -> None:
        assert (await one.hit("c", 3, 1, 2)).left == 1
        assert (await other.hit("c", 3, 1)).left == 0
        over = await one.hit("c", 3, 1)
        assert over.left == -1
        assert 0 < over.reset <= 1
        await asyncio.sleep(1.1)
        assert (await other.hit("c", 3, 1)).left == 2

    on_redis(url, work)


def test_a_server_that_is_away(hub: HubServer, tmp_path: Path) -> None:
    hub.add(MODEL, files())
    address = f"redis://127.0.0.1:{free_port()}/0"

    async def work(one: RedisStore, _: RedisStore) -> None:
        with pytest.raises(StoreUnavailable):
            await one.get("report", "a")

    on_redis(address, work)
    with serving(tmp_path, store=address, rate=2) as client:
        assert [client.get(URL).status_code for _ in range(3)] == [200, 200, 429]
        told = problem(client.get("/readyz"), 503, "not-ready")
        assert told["detail"] == "the store (redis) cannot be used"


def test_a_server_that_hangs_is_waited_for_once(hub: HubServer, tmp_path: Path) -> None:
    hub.add(MODEL, files())
    with redis_server() as address, serving(tmp_path, store=address, rate=1000) as client:
        assert client.get(URL).status_code == 200
        server: Any = redis.Redis.from_url(address)
        process = int(server.info("server")["process_id"])
        os.kill(process, signal.SIGSTOP)
        try:
            with ThreadPoolExecutor(100) as pool:
                answers = list(pool.map(lambda number: seconds_for(client, number), range(2, 102)))
            assert max(answers) < 30, "each of a hundred would wait for its turn"
            assert seconds_for(client, 102) < 1
        finally:
            os.kill(process, signal.SIGCONT)
        assert client.get("/readyz").status_code == 200
        known = len(server.keys("fse:1:report:*"))
        seconds_for(client, 103)
        assert len(server.keys("fse:1:report:*")) == known + 1
        server.close()


def seconds_for(client: TestClient, tp: int) -> float:
    started = time.monotonic()
    assert client.get(URL, params={"tp": str(tp)}).status_code == 200
    return time.monotonic() - started


def test_a_server_that_comes_back(hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.store.guard._PAUSE", 0.0)
    hub.add(MODEL, files())
    port = free_port()
    with serving(tmp_path, store=f"redis://127.0.0.1:{port}/0") as client:
        assert client.get(URL).status_code == 200
        with redis_server(port):
            assert client.get("/readyz").status_code == 200
            assert client.get(URL, params={"tp": "2"}).status_code == 200
        problem(client.get("/readyz"), 503, "not-ready")
        assert client.get(URL, params={"tp": "4"}).status_code == 200


def test_replicas_fetch_once_and_share_the_limit(url: str, tmp_path: Path) -> None:
    with HubServer() as hub:
        hub.add(MODEL, files())
        hub.fail("/api/models", delay=1.0)
        with (
            service(tmp_path / "a", hub, FSE_STORE=url, FSE_RATE="503", FSE_WORKERS="2") as one,
            service(tmp_path / "b", hub, FSE_STORE=url, FSE_RATE="503") as other,
        ):
            assert answers_of_500(one.url, other.url) == {200: 500}
            assert asked(hub, "/api/models/") == 1
            assert asked(hub, "GET /org/name/resolve") == 1
            statuses = [status(replica.url + URL) for replica in (one, other) * 3]
    assert statuses == [200] * 3 + [429] * 3


def status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
