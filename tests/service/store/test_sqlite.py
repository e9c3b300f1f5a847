"""The SQLite store: what is put is there, also for another process, and one claim holds for all."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from service.store.base import StoreUnavailable
from service.store.sqlite import SqliteStore
from tests.service.clients import ROOT
from tests.service.store.backends import on_sqlite, sqlite

WRITER = """
import asyncio, sys
from pathlib import Path
from service.store.sqlite import SqliteStore

async def main():
    store = SqliteStore(Path(sys.argv[1]), 2**31)
    for number in range(1_000_000):
        await store.put("report", str(number), b"x" * 20_000 + str(number).encode())
        print(number, flush=True)

asyncio.run(main())
"""


def test_what_is_put_is_there(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "fse.sqlite3"

    async def put(store: SqliteStore) -> None:
        assert await store.get("report", "a") is None
        await store.put("report", "a", b"one")
        await store.put("report", "a", b"two")
        await store.put("files", "a", b"\0" * 100_000)
        await store.put("files", "b", b"")

    async def read(store: SqliteStore) -> None:
        entry = await store.get("report", "a")
        assert entry is not None
        assert entry.value == b"two"
        assert abs(entry.stored - time.time()) < 5
        files = await store.get("files", "a")
        assert files is not None
        assert files.value == b"\0" * 100_000
        await store.forget("files", "a")
        assert await store.get("files", "a") is None
        assert await store.get("files", "b") is not None

    on_sqlite(path, put)
    on_sqlite(path, read)


def test_one_claim_for_all(tmp_path: Path) -> None:
    path = tmp_path / "fse.sqlite3"

    async def run() -> None:
        async with sqlite(path) as one, sqlite(path) as other:
            assert await one.claim("a", 5)
            assert not await other.claim("a", 5)
            assert not await one.claim("a", 5)
            await other.unclaim("a")
            assert not await other.claim("a", 5)
            await one.unclaim("a")
            assert await other.claim("a", 0.05)
            await asyncio.sleep(0.1)
            assert await one.claim("a", 5)

    asyncio.run(run())


def test_one_of_many_gets_the_claim(tmp_path: Path) -> None:
    path = tmp_path / "fse.sqlite3"

    async def run() -> int:
        async with sqlite(path) as one, sqlite(path) as other:
            await one.ping()
            return sum(await asyncio.gather(*(store.claim("a", 5) for store in (one, other) * 20)))

    assert asyncio.run(run()) == 1


def test_hits_are_counted_by_client(tmp_path: Path) -> None:
    async def run(store: SqliteStore) -> None:
        assert [(await store.hit("a", 2, 1000)).left for _ in range(3)] == [1, 0, -1]
        other = await store.hit("b", 2, 1000, 2)
        assert other.left == 0
        assert 0 < other.reset <= 1000

    on_sqlite(tmp_path / "fse.sqlite3", run)


def test_the_oldest_go_when_the_file_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.store.sqlite._PRUNE_EVERY", 10)
    most = 400_000

    async def run(store: SqliteStore) -> list[bool]:
        for number in range(100):
            await store.put("report", str(number), number.to_bytes(2, "big") + os.urandom(10_000))
        return [await store.get("report", str(number)) is not None for number in range(100)]

    there = on_sqlite(tmp_path / "fse.sqlite3", run, most)
    assert there == sorted(there)
    assert there[-1]
    assert 20 <= sum(there) <= 60


def test_a_killed_writer_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "fse.sqlite3"
    for _ in range(3):
        command = [sys.executable, "-c", WRITER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
            assert writer.stdout is not None
            time.sleep(0.2)
            lines = [writer.stdout.readline() for _ in range(200)]
            writer.kill()
            lines += writer.stdout.readlines()
        last = max(int(line) for line in lines if line.endswith("\n"))
        assert last >= 199

        async def read(store: SqliteStore, last: int = last) -> None:
            for number in range(last + 1):
                entry = await store.get("report", str(number))
                assert entry is not None
                assert entry.value == b"x" * 20_000 + str(number).encode()
            await store.put("report", "after", b"")

        on_sqlite(path, read)


def test_a_deleted_file_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "fse.sqlite3"

    async def run(store: SqliteStore) -> None:
        await store.put("report", "a", b"one")
        for suffix in ("", "-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        assert await store.get("report", "a") is None
        await store.put("report", "a", b"two")

    async def read(store: SqliteStore) -> bytes:
        entry = await store.get("report", "a")
        return b"" if entry is None else entry.value

    with capture_logs() as told:
        on_sqlite(path, run)
    assert on_sqlite(path, read) == b"two"
    assert [line["event"] for line in told] == ["store file gone, made anew"]


def damage(path: Path, how: str) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        if how == "text":
            file.truncate(0)
            file.write(b"this is no database at all\n" * 400)
        elif how == "middle":
            file.seek(4096)
            file.write(b"\xff" * (size - 4096))
        else:
            file.truncate(size // 2)


@pytest.mark.parametrize("how", ["text", "middle", "short"])
@pytest.mark.parametrize("running", [False, True])
def test_a_damaged_file_is_moved_aside(tmp_path: Path, how: str, running: bool) -> None:
    path = tmp_path / "fse.sqlite3"

    async def fill(store: SqliteStore) -> None:
        for number in range(50):
            await store.put("report", str(number), os.urandom(5000))

    async def use(store: SqliteStore) -> None:
        if running:
            await store.ping()
            with sqlite3.connect(path) as other:
                other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        damage(path, how)
        for number in range(50):
            await store.get("report", str(number))
            await store.put("report", str(number), b"new")
        for number in range(50):
            entry = await store.get("report", str(number))
            assert entry is not None
            assert entry.value == b"new"

    on_sqlite(path, fill)
    with capture_logs() as told:
        on_sqlite(path, use)
    with sqlite3.connect(path) as other:
        assert other.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert len([found for found in tmp_path.glob("*.damaged-*") if found.suffix[-4:] not in ("-wal", "-shm")]) >= 1
    assert "store damaged, made anew" in {line["event"] for line in told}


def test_a_damaged_value_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "fse.sqlite3"

    async def put(store: SqliteStore) -> None:
        await store.put("report", "a", b"one")

    async def get(store: SqliteStore) -> object:
        return await store.get("report", "a")

    on_sqlite(path, put)
    with sqlite3.connect(path) as other:
        other.execute("UPDATE entries SET value = x'00112233'")
    other.close()
    assert on_sqlite(path, get) is None


def test_a_locked_file_is_read_and_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.store.sqlite._PATIENCE", 0.1)
    path = tmp_path / "fse.sqlite3"

    async def run(store: SqliteStore) -> None:
        await store.put("report", "a", b"one")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        entry = await store.get("report", "a")
        assert entry is not None
        with pytest.raises(StoreUnavailable, match="locked"):
            await store.put("report", "b", b"two")
        with pytest.raises(StoreUnavailable, match="locked"):
            await store.ping()
        other.execute("ROLLBACK")
        other.close()
        await store.put("report", "b", b"two")

    on_sqlite(path, run)


def test_a_full_disk(tmp_path: Path) -> None:
    async def run(store: SqliteStore) -> None:
        await store.put("report", "a", b"one")
        connection = store._connection
        assert connection is not None
        await connection.execute("PRAGMA max_page_count=20")
        with pytest.raises(StoreUnavailable, match="full"):
            await store.put("report", "b", os.urandom(500_000))
        entry = await store.get("report", "a")
        assert entry is not None

    on_sqlite(tmp_path / "fse.sqlite3", run)


def test_a_place_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    async def run(store: SqliteStore) -> None:
        with pytest.raises(StoreUnavailable):
            await store.get("report", "a")

    on_sqlite(tmp_path / "file" / "fse.sqlite3", run)
    (tmp_path / "folder").mkdir()
    on_sqlite(tmp_path / "folder", run)


@pytest.mark.parametrize("how", ["refused", "given up"])
def test_no_thread_outlives_its_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    died: list[object] = []
    monkeypatch.setattr("threading.excepthook", died.append)
    path = tmp_path if how == "refused" else tmp_path / "fse.sqlite3"

    async def run(store: SqliteStore) -> None:
        asking = asyncio.ensure_future(store.get("report", "a"))
        await asyncio.sleep(0)
        if how == "given up":
            asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            on_sqlite(path, run)
    finally:
        sys.setswitchinterval(interval)
    time.sleep(0.1)
    assert died == []


def test_a_connection_that_another_request_closed_says_nothing_about_the_file(tmp_path: Path) -> None:
    path = tmp_path / "fse.sqlite3"

    async def run(store: SqliteStore) -> None:
        await store.put("report", "a", b"one")
        connection = store._connection
        assert connection is not None
        await connection._execute(connection._conn.close)  # type: ignore[no-untyped-call]
        with pytest.raises(StoreUnavailable, match="closed"):
            await store.get("report", "a")
        entry = await store.get("report", "a")
        assert entry is not None

    on_sqlite(path, run)
    assert list(tmp_path.glob("*.damaged-*")) == []
