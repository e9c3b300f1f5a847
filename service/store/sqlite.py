"""The default store: one SQLite file in WAL mode, shared by the workers of one machine."""

import asyncio
import contextlib
import secrets
import sqlite3
import time
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

import aiosqlite

from service.apart import apart
from service.logs import log
from service.store import rebuild
from service.store.base import Allowance, Entry, Kind, StoreUnavailable
from service.store.windows import Windows

T = TypeVar("T")

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS entries (
    kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, stored REAL NOT NULL, PRIMARY KEY (kind, key)
);
CREATE INDEX IF NOT EXISTS entries_by_age ON entries (stored);
CREATE TABLE IF NOT EXISTS claims (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL);
"""
_PATIENCE: Final = 1.0
"""Seconds that a write waits for another process's."""

_PRUNE_EVERY: Final = 500
"""Writes between two looks at the file's size."""


class SqliteStore:
    """A file that is deleted, or turns out to be no database, is made anew; one that is locked or full is not used."""

    def __init__(self, path: Path, most: int) -> None:
        self._path = path
        self._most = most
        self._owner = secrets.token_hex(8)
        self._windows = Windows()
        self._opening = asyncio.Lock()
        self._connection: aiosqlite.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._writes = 0
        self._closed = False

    async def get(self, kind: Kind, key: str) -> Entry | None:
        row = await self._run(
            lambda it: _row(it, "SELECT value, stored FROM entries WHERE kind=? AND key=?", kind, key)
        )
        if row is None:
            return None
        try:
            return Entry(value=await apart(len(row[0]), lambda: zlib.decompress(row[0])), stored=float(row[1]))
        except (zlib.error, TypeError):
            # The checksum does not hold: the value is damaged, the file is not.
            log.warning("store entry damaged", kind=kind)
            await self.forget(kind, key)
            return None

    async def put(self, kind: Kind, key: str, value: bytes) -> None:
        packed, now = await apart(len(value), lambda: zlib.compress(value, 1)), time.time()
        await self._run(lambda it: _write(it, "REPLACE INTO entries VALUES (?,?,?,?)", kind, key, packed, now))
        self._writes += 1
        if self._writes % _PRUNE_EVERY == 0:
            await self._run(self._prune)

    async def forget(self, kind: Kind, key: str) -> None:
        await self._run(lambda it: _write(it, "DELETE FROM entries WHERE kind=? AND key=?", kind, key))

    async def claim(self, name: str, seconds: float) -> bool:
        now = time.time()
        sql = "INSERT INTO claims VALUES (?1,?2,?3) ON CONFLICT (name) DO UPDATE SET owner=?2, until=?3 WHERE until<?4"
        sql += " RETURNING 1"
        return await self._run(lambda it: _row(it, sql, name, self._owner, now + seconds, now)) is not None

    async def unclaim(self, name: str) -> None:
        await self._run(lambda it: _write(it, "DELETE FROM claims WHERE name=? AND owner=?", name, self._owner))

    async def hit(self, client: str, most: int, seconds: int, cost: int = 1) -> Allowance:
        """Counted in this process: the file is for what has to last."""
        return self._windows.hit(client, most, seconds, cost)

    async def ping(self) -> None:
        sql = "REPLACE INTO claims VALUES ('ping', ?, 0)"
        await self._run(lambda it: _write(it, sql, self._owner))

    async def close(self) -> None:
        """For good: what still runs after it finds no store."""
        self._closed = True
        async with self._opening:
            await self._drop()

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error, ValueError):
                await connection.close()

    async def _run(self, work: Callable[[aiosqlite.Connection], Awaitable[T]]) -> T:
        try:
            return await work(await self._ready())
        except sqlite3.OperationalError as error:
            await self._after(error)
            raise StoreUnavailable(str(error)) from None
        except (sqlite3.ProgrammingError, OSError, ValueError) as error:
            # Also a connection that another request has just closed, which says nothing about the file.
            await self._drop()
            raise StoreUnavailable(str(error)) from None
        except sqlite3.DatabaseError as error:
            return await self._anew(error, work)

    async def _after(self, error: sqlite3.OperationalError) -> None:
        """An error other than these may come from the connection: the next call opens another one."""
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL):
            await self._drop()

    async def _anew(self, error: sqlite3.DatabaseError, work: Callable[[aiosqlite.Connection], Awaitable[T]]) -> T:
        """Again, with an empty file in the place of the damaged one."""
        damaged = self._file
        await self._drop()
        try:
            aside = await asyncio.to_thread(rebuild.move_aside, self._path, damaged)
            log.error("store damaged, made anew", path=str(self._path), kept_as=aside, cause=str(error))
            return await work(await self._ready())
        except (sqlite3.Error, OSError) as again:
            raise StoreUnavailable(str(again)) from None

    async def _ready(self) -> aiosqlite.Connection:
        """The connection to the file that is there now."""
        if self._connection is not None and self._file == rebuild.identity(self._path):
            return self._connection
        # Shielded: whoever stops waiting would leave the connection's thread behind, without a loop to answer to.
        return await asyncio.shield(asyncio.ensure_future(self._renewed()))

    async def _renewed(self) -> aiosqlite.Connection:
        async with self._opening:
            if self._closed:
                raise StoreUnavailable("closed")
            if self._connection is not None:
                if self._file == rebuild.identity(self._path):
                    return self._connection
                log.error("store file gone, made anew", path=str(self._path))
                await self._drop()
            self._connection = await self._open()
            return self._connection

    async def _open(self) -> aiosqlite.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Opened first: a connection that cannot be opened would leave its thread behind, too.
        opened = await asyncio.to_thread(
            lambda: sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        )
        connection = await aiosqlite.Connection(lambda: opened, iter_chunk_size=64)
        try:
            self._file = rebuild.identity(self._path)
            await connection.execute("PRAGMA journal_mode=WAL")
            # A killed process loses nothing so; only a power cut may lose the last commits, never the file.
            await connection.execute("PRAGMA synchronous=NORMAL")
            await connection.executescript(_SCHEMA)
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _prune(self, connection: aiosqlite.Connection) -> None:
        """The oldest tenth goes when the file is full."""
        pages = await _row(
            connection, "SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count"
        )
        size = await _row(connection, "PRAGMA page_size")
        if pages and size and pages[0] * size[0] > self._most:
            oldest = "SELECT rowid FROM entries ORDER BY stored LIMIT (SELECT count(*) / 10 + 1 FROM entries)"
            await _write(connection, f"DELETE FROM entries WHERE rowid IN ({oldest})")
        await _write(connection, "DELETE FROM claims WHERE until<?", time.time() - 60)


async def _row(connection: aiosqlite.Connection, sql: str, *values: object) -> sqlite3.Row | None:
    # One call of the connection's thread, where a cursor would be three.
    return next(iter(await connection.execute_fetchall(sql, values)), None)


async def _write(connection: aiosqlite.Connection, sql: str, *values: object) -> None:
    await connection.execute_fetchall(sql, values)
