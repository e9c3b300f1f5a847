"""The store is away or broken: requests are answered without it, the log says so once, and readiness tells."""

import json
import os
import sqlite3
import time
from pathlib import Path

import pytest

from tests.hub_server import HubServer
from tests.service.clients import MODEL, URL, asked, files, problem, serving
from tests.service.processes import service


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.store.sqlite._PATIENCE", 0.1)
    monkeypatch.setattr("service.store.guard._PAUSE", 0.2)


def test_locked(tmp_path: Path, hub: HubServer, capfd: pytest.CaptureFixture[str]) -> None:
    hub.add(MODEL, files())
    with serving(tmp_path) as client:
        assert client.get("/readyz").status_code == 200
        other = sqlite3.connect(tmp_path / "fse.sqlite3", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        assert client.get(URL).status_code == 200
        assert client.get(URL, params={"tp": "2"}).status_code == 200
        assert problem(client.get("/readyz"), 503, "not-ready")["detail"] == "the store (sqlite) cannot be used"
        other.execute("ROLLBACK")
        other.close()
        time.sleep(0.25)
        assert client.get("/readyz").status_code == 200
        assert client.get(URL, params={"tp": "4"}).status_code == 200
        assert client.get(URL, params={"tp": "8"}).status_code == 200
        count = len(hub.requests)
        assert client.get(URL, params={"tp": "16"}).status_code == 200
        assert len(hub.requests) == count
    told = capfd.readouterr().err
    assert told.count("store unavailable, going on without it") == 1
    assert "locked" in told
    assert told.count("store available again") == 1


def test_in_a_place_that_cannot_be_used(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, files())
    (tmp_path / "file").write_text("")
    with serving(tmp_path, store=f"sqlite:///{tmp_path}/file/fse.sqlite3") as client:
        problem(client.get("/readyz"), 503, "not-ready")
        first = client.get(URL)
        assert first.status_code == 200
        assert client.get(URL).content == first.content
        assert client.get("/v1/examples").status_code == 200


def test_deleted(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, files())
    with serving(tmp_path) as client:
        assert client.get(URL).status_code == 200
        for path in tmp_path.glob("fse.sqlite3*"):
            path.unlink()
        assert client.get(URL, params={"tp": "2"}).status_code == 200
        assert client.get("/readyz").status_code == 200
    assert asked(hub, "GET /org/name/resolve") == 2
    hub.requests.clear()
    with serving(tmp_path) as client:
        assert client.get(URL, params={"tp": "2"}).status_code == 200
    assert hub.requests == []


def test_damaged(tmp_path: Path, hub: HubServer, capfd: pytest.CaptureFixture[str]) -> None:
    hub.add(MODEL, files())
    path = tmp_path / "fse.sqlite3"
    path.write_bytes(os.urandom(100_000))
    with serving(tmp_path) as client:
        assert client.get("/readyz").status_code == 200
        assert client.get(URL).status_code == 200
        path.write_bytes(os.urandom(100_000))
        for size in (2, 4, 8):
            assert client.get(URL, params={"tp": str(size)}).status_code == 200
        assert client.get("/readyz").status_code == 200
    assert "store damaged, made anew" in capfd.readouterr().err


def test_killed_while_it_writes(tmp_path: Path) -> None:
    """What was answered as stored is there after the process was killed, and the next one starts on it."""
    import urllib.request

    with HubServer() as hub:
        for number in range(40):
            hub.add(f"org/m{number}", files())
        for start in (0, 20):
            with service(tmp_path, hub) as running:
                for number in range(start, start + 20):
                    with urllib.request.urlopen(f"{running.url}/v1/models/org/m{number}") as answer:
                        assert json.load(answer)["verdict"] == "fuses"
                running.stop(9)
        hub.requests.clear()
        with service(tmp_path, hub) as running:
            for number in range(40):
                with urllib.request.urlopen(f"{running.url}/v1/models/org/m{number}") as answer:
                    assert json.load(answer)["verdict"] == "fuses"
        assert hub.requests == []
