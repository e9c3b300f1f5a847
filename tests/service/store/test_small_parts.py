"""What the service builds on: the memory of answers, one flight a name, counted windows, the careful store."""

import asyncio
import math
from typing import Any

import pytest

from service.flights import Flights
from service.recent import Recent
from service.store.base import StoreUnavailable
from service.store.guard import Guarded
from service.store.windows import Windows


def test_the_least_used_go_first() -> None:
    recent: Recent[str] = Recent(3 * (512 + 100))
    for key in "abc":
        recent.put(key, key, 100, math.inf)
    assert recent.get("a") == "a"
    recent.put("d", "d", 100, math.inf)
    assert [recent.get(key) for key in "abcd"] == ["a", None, "c", "d"]
    recent.put("a", "new", 100, math.inf)
    assert [recent.get(key) for key in "acd"] == ["new", "c", "d"]
    recent.put("huge", "huge", 10_000, math.inf)
    assert [recent.get(key) for key in ("a", "c", "d", "huge")] == [None] * 4


def test_nothing_is_given_out_past_its_time() -> None:
    now = [100.0]
    recent: Recent[str] = Recent(10_000, clock=lambda: now[0])
    recent.put("a", "a", 1, 101.0)
    assert recent.get("a") == "a"
    now[0] = 101.0
    assert recent.get("a") is None


def test_one_flight_whoever_leaves() -> None:
    async def run() -> tuple[list[Any], int]:
        flights: Flights[int] = Flights()
        begun = 0

        async def work() -> int:
            nonlocal begun
            begun += 1
            await asyncio.sleep(0.05)
            return begun

        waiting = [asyncio.ensure_future(flights.join("a", work)) for _ in range(5)]
        await asyncio.sleep(0.01)
        waiting[0].cancel()
        told = await asyncio.gather(*waiting, return_exceptions=True)
        assert await flights.join("a", work) == 2
        return list(told[1:]), begun

    assert asyncio.run(run()) == ([1, 1, 1, 1], 2)


def test_a_flight_that_fails_fails_for_all_and_is_forgotten() -> None:
    async def run() -> None:
        flights: Flights[int] = Flights()

        async def work() -> int:
            await asyncio.sleep(0)
            raise ValueError("no")

        for _ in range(2):
            told = await asyncio.gather(*(flights.join("a", work) for _ in range(3)), return_exceptions=True)
            assert [type(error) for error in told] == [ValueError] * 3

    asyncio.run(run())


def test_counts_start_anew_with_each_window() -> None:
    now = [120.0]
    windows = Windows(clock=lambda: now[0])
    assert [windows.hit("a", 2, 60).left for _ in range(3)] == [1, 0, -1]
    assert windows.hit("a", 2, 60).reset == 60
    now[0] = 179.0
    assert windows.hit("a", 2, 60).reset == 1
    assert windows.hit("b", 2, 60).left == 1
    now[0] = 180.0
    assert windows.hit("a", 2, 60).left == 1


def test_of_too_many_clients_the_longest_silent_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.store.windows._MOST_CLIENTS", 3)
    windows = Windows(clock=lambda: 120.0)
    for _ in range(2):
        windows.hit("busy", 2, 60)
    for client in "abcdefgh":
        windows.hit(client, 2, 60)
        assert windows.hit("busy", 2, 60).left < 0
    assert windows.hit("g", 2, 60).left == 0
    assert windows.hit("a", 2, 60).left == 1


class Failing:
    """A store that counts how often it is asked, and cannot answer until it `works`."""

    def __init__(self, *, whole: bool) -> None:
        self.asked = 0
        self.works = False
        self._whole = whole

    def __getattr__(self, name: str) -> Any:
        async def answer(*_: Any) -> None:
            self.asked += 1
            await asyncio.sleep(0)
            if not self.works:
                raise StoreUnavailable("away", whole=self._whole)

        return answer


class Clock:
    """A time that passes when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr("service.store.guard.time.monotonic", lambda: self.now)


@pytest.mark.parametrize("whole", [False, True])
def test_a_store_that_is_away_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch, whole: bool) -> None:
    clock = Clock(monkeypatch)

    async def run() -> None:
        failing = Failing(whole=whole)
        store: Any = Guarded(failing)
        assert await store.get("report", "a") is None
        assert await store.get("report", "a") is None
        assert failing.asked == 1
        assert await store.claim("a", 1)
        await store.put("report", "a", b"")
        assert failing.asked == 1 if whole else 2
        assert (await store.hit("a", 2, 60)).left == 1
        assert (await store.hit("a", 2, 60)).left == 0
        assert not await store.ping()
        failing.works = True
        assert await store.ping()
        asked = failing.asked
        await store.put("report", "a", b"")
        assert failing.asked == asked + 1
        clock.now += 100
        await store.get("report", "a")
        await store.get("report", "a")
        assert failing.asked == asked + 3

    asyncio.run(run())


def test_the_pause_grows_and_one_request_at_a_time_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    async def run() -> list[int]:
        failing = Failing(whole=True)
        store: Any = Guarded(failing)
        await asyncio.gather(*(store.get("report", str(number)) for number in range(20)))
        assert failing.asked == 20
        asked_at = []
        for second in range(120):
            clock.now = float(second)
            before = failing.asked
            await asyncio.gather(*(store.get("report", str(number)) for number in range(20)))
            assert failing.asked - before <= 1
            asked_at += [second] * (failing.asked - before)
        return asked_at

    assert asyncio.run(run()) == [3, 9, 21, 45, 75, 105]
