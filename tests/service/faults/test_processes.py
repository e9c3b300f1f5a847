"""Checks of configs that are sent run in processes: stopped when they take too long, and shared fairly."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from fse_core.errors import FetchError, InputError, OutOfTime
from service.lane import asking
from service.problems import Problem
from service.processes import Processes
from tests.hub_server import HubServer
from tests.service import slow
from tests.service.clients import CONFIG, URL, files, problem, serving


def with_processes(work: Callable[[Processes], Awaitable[None]], seconds: float = 20.0) -> None:
    async def run() -> None:
        processes = Processes("checks", most=2, each=4, seconds=seconds)
        try:
            await work(processes)
        finally:
            await processes.close()

    asyncio.run(run())


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_one_that_takes_too_long_is_stopped_and_replaced() -> None:
    async def work(processes: Processes) -> None:
        first: int = await processes.run(os.getpid)
        assert first not in (os.getpid(), os.getppid())
        assert await processes.run(os.getpid) == first
        started = time.monotonic()
        with pytest.raises(Problem, match="not checked within 1 s"):
            await processes.run(slow.sleep)
        assert 1 <= time.monotonic() - started < 5
        assert not alive(first)
        assert await processes.run(os.getpid) != first

    with_processes(work, seconds=1.0)


def test_work_that_talks_is_heard_and_answered_until_it_is_over() -> None:
    async def work(processes: Processes) -> None:
        told: list[tuple[str, int]] = []

        async def heard(kind: str, number: int) -> int | None:
            told.append((kind, number))
            return number * 2 if kind != "told" else None

        first, answers = await processes.talk(heard, slow.chat, 3)
        assert answers == [0, 2, 4]
        spoken = [one for one in told if one[0] != "late"]
        assert spoken == [(kind, number) for number in range(3) for kind in ("told", "asked")]
        # What its thread says now would be taken for the next answer.
        for _ in range(20):
            assert await processes.run(os.getpid) == first
            await asyncio.sleep(0.02)

    with_processes(work)


def test_who_hears_too_much_stops_it() -> None:
    async def work(processes: Processes) -> None:
        first: int = await processes.run(os.getpid)

        async def heard(*_: object) -> None:
            raise Problem("rate-limited", "enough")

        with pytest.raises(Problem, match="enough"):
            await processes.talk(heard, slow.chat, 3)
        assert not alive(first)
        with pytest.raises(FetchError) as caught:
            await processes.run(slow.lost)
        assert (caught.value.kind, caught.value.retry_after) == ("rate_limited", 7.0)

    with_processes(work)


def test_none_is_left_when_the_service_ends() -> None:
    left: list[int] = []

    async def work(processes: Processes) -> None:
        left.append(await processes.run(os.getpid))
        running = asyncio.ensure_future(processes.run(slow.sleep))
        await asyncio.sleep(0.2)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        left.append(await processes.run(os.getpid))

    with_processes(work)
    assert left[0] != left[1]
    assert not any(alive(pid) for pid in left)


def test_what_it_raises_comes_back() -> None:
    async def work(processes: Processes) -> None:
        with pytest.raises(InputError) as refused:
            await processes.run(slow.refuse)
        assert (refused.value.path, refused.value.message) == ("config.a", "expected another")
        with pytest.raises(OutOfTime, match="more than 2 s"):
            await processes.run(slow.give_up)
        with pytest.raises(RuntimeError, match="KeyError: 'inner workings'"):
            await processes.run(slow.fail)

    with_processes(work)


def test_clients_take_turns_and_hold_a_few_each() -> None:
    async def asked(processes: Processes, who: str, work: Callable[..., Any]) -> float:
        asking.set(who)
        started = time.monotonic()
        await processes.run(work)
        return time.monotonic() - started

    async def work(processes: Processes) -> None:
        greedy = [asyncio.ensure_future(asked(processes, who, slow.doze)) for _ in range(4) for who in ("one", "two")]
        await asyncio.sleep(0.5)
        with pytest.raises(Problem, match="too many of this client's") as refused:
            await asked(processes, "one", os.getpid)
        assert (refused.value.status, refused.value.retry_after) == (429, 2)
        # Each of the two runs one check; the third client is next after whichever of them waited longer.
        assert await asked(processes, "three", os.getpid) < 3
        assert sum(done.done() for done in greedy) <= 3
        await asyncio.gather(*greedy)

    with_processes(work)


def post(client: TestClient) -> Any:
    return client.post("/v1/check", json={"config": CONFIG})


def test_models_of_the_hub_do_not_wait_for_them(
    tmp_path: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.reports.config_body", slow.sleep)
    hub.add("org/name", files())
    with serving(tmp_path, check_seconds=4.0, trust_forwarded=True) as client, ThreadPoolExecutor(6) as pool:
        sent = [pool.submit(post, client) for _ in range(6)]
        time.sleep(1)
        started = time.monotonic()
        assert client.get(URL).status_code == 200
        assert time.monotonic() - started < 2
        kinds = [answer.result().json()["type"] for answer in sent]
    assert kinds.count("/problems/rate-limited") == 2
    assert set(kinds) == {"/problems/rate-limited", "/problems/too-slow", "/problems/busy"}


@pytest.mark.parametrize("work", [slow.sleep, slow.give_up])
def test_a_check_that_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: Callable[..., Any]) -> None:
    """An answer that hangs on the time would be kept as if it were one."""
    monkeypatch.setattr("service.reports.config_body", work)
    with serving(tmp_path, check_seconds=0.5) as client:
        response = post(client)
        problem(response, 503, "too-slow")
        assert response.headers["retry-after"] == "60"
        monkeypatch.undo()
        assert post(client).json()["verdict"] == "fuses"
