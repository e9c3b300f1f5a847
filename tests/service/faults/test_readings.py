"""Reading headers: bounded for each client, ended when nobody waits, and never at the cost of anything else."""

import asyncio
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from service.readings import Answer, Reading, Readings
from service.store.guard import Guarded
from service.store.sqlite import SqliteStore
from tests.hub_server import HubServer
from tests.safetensors_files import deepseek
from tests.service.clients import MODEL, URL, asked, problem, serving, settings
from tests.service.headers import HIDDEN, WHOLE, checkpoint, events, settled, tensors
from tests.service.processes import STOPPED, service
from tests.service.store.redis_server import redis_server

FULL = f"{URL}?headers=full"
SLOW = "resolve/.*safetensors"


def test_all_who_ask_wait_for_one_reading(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, checkpoint(tensors()))
    hub.fail(SLOW, delay=0.3)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: client.get(FULL, headers=WHOLE), range(8)))
    assert {response.status_code for response in found} == {200}
    assert len({response.content for response in found}) == 1
    assert asked(hub, "-of-00004") == 4


def test_who_goes_away_ends_the_reading(tmp_path: Path) -> None:
    with HubServer() as hub:
        hub.add(MODEL, checkpoint(tensors(), 60))
        hub.fail(SLOW, delay=0.4)
        with service(tmp_path, hub) as running:
            line = _opened(running.url, f"{URL}/headers?headers=full")
            while not asked(hub, "-of-00060"):
                time.sleep(0.05)
            line.close()
            time.sleep(1.5)
            count = asked(hub, "-of-00060")
            time.sleep(1.0)
            assert asked(hub, "-of-00060") == count < 60
            assert running.stop() in STOPPED
            assert "Traceback" not in running.log.read_text()


def _opened(url: str, path: str) -> Any:
    import urllib.request

    answer = urllib.request.urlopen(url + path, timeout=20)
    assert answer.readline().startswith(b"event: report")
    return answer


def test_who_waits_without_events_and_goes_away_ends_it_too(tmp_path: Path) -> None:
    import http.client
    from urllib.parse import urlsplit

    with HubServer() as hub:
        hub.add(MODEL, checkpoint(tensors(), 60))
        hub.fail(SLOW, delay=1.0)
        with service(tmp_path, hub) as running:
            connection = http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=20)
            connection.request("GET", FULL, headers=WHOLE)
            while not asked(hub, "-of-00060"):
                time.sleep(0.05)
            connection.close()
            time.sleep(2.0)
            count = asked(hub, "-of-00060")
            time.sleep(1.0)
            assert asked(hub, "-of-00060") == count < 60


def test_a_reading_without_anybody_is_stopped(tmp_path: Path) -> None:
    async def run() -> tuple[bool, bool]:
        store = Guarded(SqliteStore(tmp_path / "a.sqlite3", 1 << 20))
        readings = Readings(store, settings(tmp_path))
        left, held = Reading(), Reading()
        left._asked = -1e9
        for one in (left, held):
            readings._begin(one, _forever)
        with held.held():
            await asyncio.sleep(0.2)
            states = left.stopped, held.stopped
            held.task.cancel()
        await asyncio.gather(left.task, held.task, return_exceptions=True)
        await readings.close()
        await store.close()
        return states

    assert asyncio.run(run()) == (True, False)


async def _forever() -> Answer:
    await asyncio.sleep(60)
    raise AssertionError("nobody waits so long")


def test_a_client_has_so_many_bytes_an_hour(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, checkpoint(tensors()))
    hub.add("org/other", checkpoint(tensors()))
    hub.fail(SLOW, delay=0.5)
    with serving(tmp_path, headers_bytes=2000, trust_forwarded=True) as client:
        mine, others = ({"X-Forwarded-For": address, **WHOLE} for address in ("1.1.1.1", "2.2.2.2"))
        response = client.get(FULL, headers=mine)
        told = problem(response, 429, "rate-limited")
        assert "of headers in an hour" in told["detail"]
        assert 1 <= int(response.headers["retry-after"]) <= 3600
        problem(client.get("/v1/models/org/other?headers=full", headers=mine), 429, "rate-limited")
        assert asked(hub, "/org/other/resolve/") == 1  # its config
        assert client.get(URL, headers=mine).status_code == 200
        # Another one's reading is its own.
        assert client.get(FULL, headers={**others, "Prefer": "wait=0"}).status_code == 202


def test_a_client_has_so_many_readings(tmp_path: Path, hub: HubServer) -> None:
    names = [f"org/m{number}" for number in range(5)]
    for name in names:
        hub.add(name, checkpoint(tensors()))
    hub.fail("resolve/.*m?safetensors", delay=0.5)
    with serving(tmp_path, headers_most=2, headers_each=2, trust_forwarded=True) as client:
        me = {"X-Forwarded-For": "1.1.1.1"}
        first = [client.get(f"/v1/models/{name}?headers=full", headers=me) for name in names]
        time.sleep(0.3)
        states = [client.get(f"/v1/models/{name}?headers=full", headers=me) for name in names]
        assert [response.status_code for response in first][:2] == [202, 202]
        assert [response.status_code for response in states][2:] == [429, 429, 429]
        started = time.monotonic()
        hub.faults.clear()
        other = client.get(f"/v1/models/{names[4]}?headers=sample", headers={"X-Forwarded-For": "2.2.2.2", **WHOLE})
        assert other.status_code == 200
        assert time.monotonic() - started < 15


@pytest.mark.parametrize(
    ("fault", "status", "name"),
    [
        ({"status": 404, "headers": {"X-Error-Code": "EntryNotFound"}}, 422, "unreadable-headers"),
        ({"status": 403}, 403, "gated"),
        ({"hang_up": True}, 502, "upstream-broken"),
        ({"status": 429, "headers": {"Retry-After": "300"}}, 503, "upstream-rate-limited"),
        ({"status": 302, "headers": {"Location": "https://elsewhere.example/x"}}, 502, "upstream-broken"),
        ({"headers": {"Content-Range": "bytes 0-1/2"}}, 502, "upstream-broken"),
        ({"delay": 60.0}, 503, "upstream-unavailable"),
    ],
)
def test_a_hub_that_fails_is_told_of_and_the_config_answers(
    tmp_path: Path, hub: HubServer, fault: dict[str, Any], status: int, name: str
) -> None:
    hub.add(MODEL, checkpoint(tensors()))
    hub.fail("-of-00004.safetensors", **fault)
    with serving(tmp_path, headers_seconds=6.0) as client:
        told = problem(client.get(FULL, headers=WHOLE), status, name)
        assert client.get(URL).json()["verdict"] == "fuses"
        count = quiet(hub)
        problem(client.get(FULL), status, name)
        assert len(hub.requests) == count
        failed = events(client.get(f"{URL}/headers").text)
        assert [data["type"] for kind, data in failed if kind == "problem"] == [told["type"]]
        page = client.get(f"/models/{MODEL}?headers=full", headers={"Accept": "text/html"})
        assert page.status_code == 200
        assert "The headers could not be read" in page.text


def quiet(hub: HubServer) -> int:
    """How many requests there were, once those that were under way when one failed have come in."""
    count = -1
    while count != len(hub.requests):
        count = len(hub.requests)
        time.sleep(0.5)
    return count


def test_a_hub_that_ignores_ranges_sends_no_file(client: TestClient, hub: HubServer) -> None:
    held = checkpoint(tensors())
    hub.add(MODEL, held)
    hub.ranges = False
    problem(client.get(FULL, headers=WHOLE), 502, "upstream-broken")
    # What the connections had taken before they were cut off, of files of 66 MB and more.
    assert hub.sent < 16 * 1024**2 < min(len(data) for name, data in held.items() if "00001-of" in name)


def test_a_hub_that_is_busy_is_asked_again(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, checkpoint(tensors()))
    hub.fail("-of-00004.safetensors", status=429, headers={"Retry-After": "1"}, times=2)
    assert client.get(FULL, headers=WHOLE).status_code == 200


def test_a_reading_that_is_too_slow_is_given_up(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, checkpoint(tensors()))
    hub.fail("-of-00004.safetensors", drip=0.2)
    with serving(tmp_path, headers_seconds=2.0) as client:
        started = time.monotonic()
        assert client.get(FULL, headers=WHOLE).status_code in (502, 503)
        assert time.monotonic() - started < 12


def test_redirects_to_the_second_host_are_followed_without_the_token(client: TestClient, hub: HubServer) -> None:
    held = checkpoint(tensors())
    apart = frozenset(name for name in held if name.endswith(".safetensors"))
    hub.add(MODEL, held, private=True, stored_apart=apart)
    hub.tokens["hf_reader"] = {MODEL}
    assert client.get(FULL, headers={"Authorization": "Bearer hf_reader"}).status_code == 200
    there = [request for request in hub.requests if request.host == "cdn"]
    assert len(there) == 4
    assert {request.token for request in there} == {None}


def test_what_was_read_outlives_a_killed_process(tmp_path: Path) -> None:
    with HubServer() as hub:
        hub.add(MODEL, checkpoint(tensors(), 30))
        fault = hub.fail("-of-00030.safetensors", delay=0.5)
        with service(tmp_path, hub) as running:
            line = _opened(running.url, f"{URL}/headers?headers=full")
            while asked(hub, "-of-00030") < 20:
                time.sleep(0.05)
            running.process.kill()
            running.process.wait(10)
            line.close()
        time.sleep(1.0)
        fault.times, read = 0, asked(hub, "-of-00030")
        with service(tmp_path, hub, FSE_HEADERS_SECONDS="20") as running:
            told = events(_whole(running.url, f"{URL}/headers?headers=full"))
            assert told[-1][1]["succeeded"] is True
        # At most the eight that were on their way are asked for again.
        assert asked(hub, "-of-00030") - read <= 30 - read + 16


def _whole(url: str, path: str) -> str:
    import urllib.request

    with urllib.request.urlopen(url + path, timeout=60) as answer:
        return str(answer.read().decode())


def test_two_workers_share_one_reading(tmp_path: Path) -> None:
    with HubServer() as hub, redis_server() as place:
        hub.add(MODEL, checkpoint(tensors(), 24))
        hub.fail("-of-00024.safetensors", delay=0.5)
        store = {"FSE_STORE": place}
        with service(tmp_path / "a", hub, **store) as one, service(tmp_path / "b", hub, **store) as other:
            with ThreadPoolExecutor(2) as pool:
                found = list(pool.map(lambda it: _whole(it.url, f"{URL}/headers?headers=full"), (one, other)))
            assert [events(text)[-1][1]["succeeded"] for text in found] == [True, True]
            assert asked(hub, "-of-00024") == 24
            seen = [[data["files"]["done"] for kind, data in events(text) if kind == "progress"] for text in found]
            assert all(any(0 < done < 24 for done in one) for one in seen), seen


def test_the_token_is_in_no_command_line(tmp_path: Path) -> None:
    with HubServer() as hub:
        hub.add(MODEL, checkpoint(tensors()), private=True)
        hub.tokens["hf_reader"] = {MODEL}
        hub.fail("-of-00004.safetensors", delay=1.0)
        with service(tmp_path, hub) as running, ThreadPoolExecutor(1) as pool:
            reading = pool.submit(_with_token, running.url)
            while not asked(hub, "-of-00004"):
                time.sleep(0.05)
            lines = [_command(number) for number in os.listdir("/proc") if number.isdigit()]
            assert any(b"service.worker" in line for line in lines)
            assert not any(b"hf_reader" in line for line in lines)
            assert reading.result()["verdict"] == "fuses"
            assert "hf_reader" not in running.log.read_text()


def _with_token(url: str) -> Any:
    import urllib.request

    request = urllib.request.Request(url + FULL, headers={"Authorization": "Bearer hf_reader"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def _command(number: str) -> bytes:
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return b""


def test_the_service_answers_meanwhile(tmp_path: Path) -> None:
    with HubServer() as hub:
        hub.add(MODEL, checkpoint(deepseek(range(40), 64, hidden=HIDDEN), 40))
        with service(tmp_path, hub) as running, ThreadPoolExecutor(1) as pool:
            reading = pool.submit(_whole, running.url, f"{URL}/headers?headers=full")
            longest, count = 0.0, 0
            while not reading.done():
                started = time.monotonic()
                _whole(running.url, "/livez")
                longest, count = max(longest, time.monotonic() - started), count + 1
            assert events(reading.result())[-1][1]["succeeded"] is True
            assert count > 20
            assert longest < 1.0


def test_a_poll_that_comes_again_keeps_it_going(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, checkpoint(tensors(), 40))
    hub.fail("-of-00040.safetensors", delay=0.5)
    response = settled(client, FULL)
    assert response.status_code == 200
    assert asked(hub, "-of-00040") == 40
