"""The store of several replicas: Redis, or Valkey, which speaks the same."""

import asyncio
import secrets
import struct
import time
import zlib
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from redis import asyncio as client
from redis.exceptions import RedisError

from service.apart import apart
from service.store.base import Allowance, Entry, Kind, StoreUnavailable

T = TypeVar("T")

_PREFIX: Final = "fse:1:"
_PATIENCE: Final = 2.0
_CONNECTIONS: Final = 32
_DAY: Final = 24 * 3600
_LIFETIMES: Final[dict[Kind, int]] = {
    "files": 90 * _DAY,
    "header": 30 * _DAY,
    "report": 30 * _DAY,
    "progress": 60,
    "branch": 90 * _DAY,
    "refusal": _DAY,
}
"""Seconds after which an entry goes; what goes when its memory is full is the server's matter."""

_STORED: Final = struct.Struct(">d")

# A claim is ended by its owner alone: it may have run out, and be another one's by now.
_UNCLAIM: Final = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"

# One window for all replicas, which starts with the first request in it.
_HIT: Final = """
local count = redis.call('incrby', KEYS[1], ARGV[1])
if count == tonumber(ARGV[1]) then redis.call('pexpire', KEYS[1], ARGV[2]) end
return {count, redis.call('pttl', KEYS[1])}
"""


class RedisStore:
    """Each call is one round trip."""

    def __init__(self, url: str) -> None:
        self._owner = secrets.token_hex(8)
        # Made from the URL, it closes its connections with itself; a pool that is given to it is left open.
        self._redis: Any = client.Redis.from_url(url, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE)
        # A burst of requests waits for a connection, and is no reason to go on without the store.
        self._free = asyncio.Semaphore(_CONNECTIONS)
        self._failures = 0
        self._unclaim = self._redis.register_script(_UNCLAIM)
        self._hit = self._redis.register_script(_HIT)

    async def get(self, kind: Kind, key: str) -> Entry | None:
        found: bytes | None = await self._run(lambda: self._redis.get(_name(kind, key)))
        if found is None:
            return None
        try:
            value = await apart(len(found), lambda: zlib.decompress(found[_STORED.size :]))
            return Entry(value=value, stored=_STORED.unpack_from(found)[0])
        except (zlib.error, struct.error):
            return None

    async def put(self, kind: Kind, key: str, value: bytes) -> None:
        packed = _STORED.pack(time.time()) + await apart(len(value), lambda: zlib.compress(value, 1))
        await self._run(lambda: self._redis.set(_name(kind, key), packed, ex=_LIFETIMES[kind]))

    async def forget(self, kind: Kind, key: str) -> None:
        await self._run(lambda: self._redis.delete(_name(kind, key)))

    async def claim(self, name: str, seconds: float) -> bool:
        milliseconds = max(1, round(seconds * 1000))
        return bool(
            await self._run(lambda: self._redis.set(_name("claim", name), self._owner, nx=True, px=milliseconds))
        )

    async def unclaim(self, name: str) -> None:
        await self._run(lambda: self._unclaim(keys=[_name("claim", name)], args=[self._owner]))

    async def hit(self, client: str, most: int, seconds: int, cost: int = 1) -> Allowance:
        count, left = await self._run(lambda: self._hit(keys=[_name("hit", client)], args=[cost, seconds * 1000]))
        return Allowance(left=most - int(count), reset=max(0.0, int(left) / 1000))

    async def ping(self) -> None:
        await self._run(lambda: self._redis.set(_name("claim", "ping"), self._owner, px=1000))

    async def close(self) -> None:
        await self._redis.aclose()

    async def _run(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Whoever waited for a connection while somebody waited for the server in vain does not wait for it, too."""
        failures = self._failures
        async with self._free:
            if self._failures != failures:
                raise StoreUnavailable("no answer to another request", whole=True)
            try:
                return await ask()
            except (RedisError, OSError) as error:
                self._failures += 1
                raise StoreUnavailable(f"{type(error).__name__}: {error}", whole=True) from None


def _name(kind: str, key: str) -> str:
    return f"{_PREFIX}{kind}:{key}"
