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


class Failing:
    """A store that counts how often it is asked, and cannot answer."""

    def __init__(self) -> None:
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        async def fail(*_: Any) -> None:
            self.asked += 1
            raise StoreUnavailable("away")

        return fail


def test_a_store_that_is_away_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        failing = Failing()
        store: Any = Guarded(failing)
        assert await store.get("report", "a") is None
        assert await store.get("report", "a") is None
        assert failing.asked == 1
        assert await store.claim("a", 1)
        await store.put("report", "a", b"")
        assert failing.asked == 2
        assert (await store.hit("a", 2, 60)).left == 1
        assert (await store.hit("a", 2, 60)).left == 0
        assert await store.ping() == "away"
        monkeypatch.setattr("service.store.guard._PAUSE", 0.0)
        store._asleep.clear()
        await store.get("report", "a")
        await store.get("report", "a")
        assert failing.asked == 5

    asyncio.run(run())
