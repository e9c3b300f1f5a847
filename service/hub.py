"""The Hub, through the core's reader: without blocking, a bounded number at once, and never with a login of our own."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fse_core.errors import FetchError, InputError
from fse_core.read.hub import HubFiles, fetch_at, resolve
from fse_core.report import Source

T = TypeVar("T")


class Hub:
    """Asks anonymously unless the caller gave a token. Each fetch has a cache folder of its own, gone afterwards:
    what one caller's token opened is on no disk for the next one.
    """

    def __init__(self, *, seconds: float, most: int) -> None:
        self._seconds = seconds / 2  # an answer takes two steps
        self._free = asyncio.Semaphore(most)
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="fse-hub")

    async def resolve(self, repo: str, revision: str, token: str | None = None) -> Source:
        """The commit that the revision stands for now."""
        return await self._ask(
            repo,
            lambda cache: resolve(repo, revision, token=token or False, cache=cache, deadline=self._seconds),
        )

    async def files(self, source: Source, token: str | None = None) -> HubFiles:
        """The config files of a commit."""
        return await self._ask(
            source.id, lambda cache: fetch_at(source, token=token or False, cache=cache, deadline=self._seconds)
        )

    async def _ask(self, repo: str, call: Callable[[str], T]) -> T:
        try:
            async with asyncio.timeout(self._seconds):
                await self._free.acquire()
        except TimeoutError:
            raise FetchError("unreachable", f"{repo}: too many fetches from the Hub are under way") from None
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, _apart, call)
        except InputError as error:
            # A name that the Hub's own rules refuse is the name of no model.
            raise FetchError("missing_repo", error.message) from None
        finally:
            self._free.release()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _apart(call: Callable[[str], T]) -> T:
    folder = tempfile.mkdtemp(prefix="fse-")
    try:
        return call(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
