"""What the Hub said about a model: from the store while that is current, else asked once for all who wait."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from fse_core.errors import FetchError
from fse_core.read.hub import HubFiles
from fse_core.read.hub_direct import Latest
from fse_core.report import Source
from service import ids
from service.flights import Flights
from service.hub import Hub
from service.settings import Settings
from service.store.guard import Guarded

T = TypeVar("T")

PASSING: Final = frozenset({"unreachable", "rate_limited", "offline", "broken"})
"""What says nothing about the model: the last known answer still holds."""

_PASSING_SECONDS: Final = 5.0
_LOOK_EVERY: Final = 0.03


@dataclass(frozen=True, kw_only=True)
class Located:
    """The commit of a revision. `at` is when the Hub said so (Unix time); `trouble` is why it was not asked again;
    `files` what came with it: the files, or why the Hub did not give them.
    """

    source: Source
    at: float
    trouble: FetchError | None = None
    files: HubFiles | FetchError | None = None


class Facts:
    """Everything here is public: nothing that a token opened comes in."""

    def __init__(self, store: Guarded, hub: Hub, settings: Settings) -> None:
        self._store = store
        self._hub = hub
        self._settings = settings
        self._flights: Flights[Any] = Flights()

    async def locate(self, repo: str, revision: str) -> Located:
        """The commit that the revision stands for; the last known one where the Hub is of no help now."""
        if ids.is_commit(revision) and await self._store.get("files", _key(repo, revision)) is not None:
            source = Source(kind="hub", id=repo, revision=revision, commit=revision)
            return Located(source=source, at=time.time())
        name = _key(repo, revision)
        try:
            return await self._once(f"locate:{name}", *self._locating(repo, revision))
        except FetchError as error:
            last = await self._branch(repo, revision) if error.kind in PASSING else None
            if last is None:
                raise
            return Located(source=last.source, at=last.at, trouble=error)

    async def files(self, source: Source, came: HubFiles | FetchError | None = None) -> HubFiles:
        """The config files of a commit, which never change; `came` is what `locate` told of them."""
        if isinstance(came, FetchError):
            raise came
        if came is not None:
            return came
        name = _key(source.id, str(source.commit))

        async def fetch() -> HubFiles:
            files = await self._refusable(name, self._hub.files(source))
            await self._store.put("files", name, _packed(files))
            return files

        async def look() -> HubFiles | None:
            entry = await self._store.get("files", name)
            if entry is None:
                await self._refused(name)
                return None
            return _unpacked(entry.value, source)

        return await self._once(f"files:{name}", look, fetch)

    async def close(self) -> None:
        await self._flights.end()

    def _locating(
        self, repo: str, revision: str
    ) -> tuple[Callable[[], Awaitable[Located | None]], Callable[[], Awaitable[Located]]]:
        """How to look for the commit in the store, and then how to fetch it with its files."""
        name = _key(repo, revision)
        last: Located | None = None

        async def look() -> Located | None:
            nonlocal last
            last = await self._branch(repo, revision)
            if last is not None and time.time() - last.at < self._settings.branch_seconds:
                return last
            await self._refused(name)
            return None

        async def fetch() -> Located:
            known = None if last is None else last.source.commit
            if known is not None and not await self._settled(_key(repo, known)):
                known = None
            latest = await self._refusable(name, self._hub.latest(repo, revision, known=known))
            await self._keep(latest, name)
            return Located(source=latest.source, at=time.time(), files=latest.files)

        return look, fetch

    async def _keep(self, latest: Latest, name: str) -> None:
        commit = str(latest.source.commit)
        if isinstance(latest.files, HubFiles):
            await self._store.put("files", _key(latest.source.id, commit), _packed(latest.files))
        if isinstance(latest.files, FetchError):
            await self._refuse(_key(latest.source.id, commit), latest.files)
        await self._store.put("branch", name, commit.encode())

    async def _branch(self, repo: str, revision: str) -> Located | None:
        entry = await self._store.get("branch", _key(repo, revision))
        if entry is None:
            return None
        source = Source(kind="hub", id=repo, revision=revision, commit=entry.value.decode())
        return Located(source=source, at=entry.stored)

    async def _refused(self, name: str) -> None:
        """Raises what the Hub said a moment ago, if it was a refusal."""
        entry = await self._store.get("refusal", name)
        if entry is None:
            return
        told = json.loads(entry.value)
        if time.time() < told["until"]:
            raise FetchError(told["kind"], told["message"], retry_after=told["until"] - time.time())

    async def _settled(self, name: str) -> bool:
        """Whether the files of a commit are there, or were refused a moment ago."""
        if await self._store.get("files", name) is not None:
            return True
        try:
            await self._refused(name)
        except FetchError:
            return True
        return False

    async def _refusable(self, name: str, asking: Awaitable[T]) -> T:
        try:
            return await asking
        except FetchError as error:
            await self._refuse(name, error)
            raise

    async def _refuse(self, name: str, error: FetchError) -> None:
        seconds = _PASSING_SECONDS if error.kind in PASSING else self._settings.negative_seconds
        if error.kind == "rate_limited" and error.retry_after is not None:
            seconds = min(error.retry_after, 300.0)
        told = {"kind": error.kind, "message": error.message, "until": time.time() + seconds}
        await self._store.put("refusal", name, json.dumps(told).encode())

    async def _once(self, name: str, look: Callable[[], Awaitable[T | None]], fetch: Callable[[], Awaitable[T]]) -> T:
        """What `look` finds, or else what one `fetch` brings, of all who ask here and in other workers."""
        found = await look()
        return found if found is not None else await self._flights.join(name, lambda: self._claimed(name, look, fetch))

    async def _claimed(
        self, name: str, look: Callable[[], Awaitable[T | None]], fetch: Callable[[], Awaitable[T]]
    ) -> T:
        lease = self._settings.hub_seconds + 5
        until = time.monotonic() + lease
        while not await self._store.claim(name, lease):
            await asyncio.sleep(_LOOK_EVERY)
            found = await look()
            if found is not None:
                return found
            if time.monotonic() > until:
                raise FetchError("unreachable", f"{name}: another worker did not finish its fetch")
        try:
            # Whoever held the claim before may have stored the answer since it was last looked for.
            found = await look()
            return found if found is not None else await fetch()
        finally:
            await self._store.unclaim(name)


def _key(repo: str, revision: str) -> str:
    return f"{repo}@{revision}"


def _packed(files: HubFiles) -> bytes:
    """The length of the first file, and both one after the other."""
    head = len(files.config).to_bytes(8, "big", signed=False) + bytes([files.hf_quant_config is not None])
    return head + files.config + (files.hf_quant_config or b"")


def _unpacked(value: bytes, source: Source) -> HubFiles:
    end = 9 + int.from_bytes(value[:8], "big")
    return HubFiles(source=source, config=value[9:end], hf_quant_config=value[end:] if value[8] else None)
