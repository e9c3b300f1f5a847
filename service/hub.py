"""The Hub, through the core's reader: without blocking, a bounded number at once, and never with a login of our own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from fse_core.errors import FetchError, InputError
from fse_core.read import hub_direct
from fse_core.read.hub import HubFiles
from fse_core.read.hub_direct import Latest
from fse_core.report import Source
from service.lane import Lane

T = TypeVar("T")

_WAITING: Final = 256
"""Fetches for which one client may wait."""


class Hub:
    """Asks anonymously unless the caller gave a token. Nothing of it is on any disk: what one caller's token opened is
    not there for the next one.
    """

    def __init__(self, *, seconds: float, most: int) -> None:
        self._seconds = seconds / 2  # for a place, and again for the answer
        self._lane = Lane("fetches from the Hub", most, each=max(1, most // 2), waiting=_WAITING)
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="fse-hub")

    async def latest(self, repo: str, revision: str, token: str | None = None, known: str | None = None) -> Latest:
        """The commit that the revision stands for now, with its files unless it is the one that is known."""
        return await self._ask(
            lambda: hub_direct.latest(repo, revision, token=token or False, known=known, deadline=self._seconds)
        )

    async def files(self, source: Source) -> HubFiles:
        """The config files of a commit."""
        return await self._ask(lambda: hub_direct.files_at(source, token=False, deadline=self._seconds))

    async def _ask(self, call: Callable[[], T]) -> T:
        async with self._lane.place(self._seconds):
            try:
                return await asyncio.get_running_loop().run_in_executor(self._threads, call)
            except InputError as error:
                # A name that the Hub's own rules refuse is the name of no model.
                raise FetchError("missing_repo", error.message) from None

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
