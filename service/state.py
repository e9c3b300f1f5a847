"""What lives as long as the application: made when it starts, handed to every request, closed when it stops."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypedDict

from starlette.requests import Request
from starlette.types import ASGIApp

from service import drain, logs
from service.api.replies import Reply
from service.examples import Example, load
from service.hub import Hub
from service.recent import Recent
from service.reports import Reports
from service.settings import Settings
from service.store.guard import Guarded
from service.store.opening import open_store


class State(TypedDict):
    """A request finds each as an attribute of `request.state`."""

    settings: Settings
    store: Guarded
    reports: Reports
    examples: Mapping[str, Example]
    recent: Recent[Reply]
    draining: asyncio.Event


def of(request: Request) -> State:
    """The state, typed."""
    state: State = request.scope["state"]
    return state


def lifespan(settings: Settings) -> Callable[[ASGIApp], AbstractAsyncContextManager[State]]:
    """Opens what the service needs. A store that cannot be opened, or a Hub that is away, stops no start."""

    @asynccontextmanager
    async def alive(_: ASGIApp) -> AsyncIterator[State]:
        logs.configure(settings.log_level)
        store = Guarded(open_store(settings))
        hub = Hub(seconds=settings.hub_seconds, most=settings.hub_most)
        examples = await asyncio.to_thread(load, settings.examples)
        reports = Reports(store=store, hub=hub, examples=examples, settings=settings)
        draining = asyncio.Event()
        logs.log.info("started", examples=len(examples), store=settings.store.partition(":")[0])
        try:
            with drain.on_signal(draining, settings.drain_seconds):
                yield State(
                    settings=settings,
                    store=store,
                    reports=reports,
                    examples=examples,
                    recent=Recent(settings.memory_most // 2),
                    draining=draining,
                )
        finally:
            draining.set()
            await reports.close()
            hub.close()
            await store.close()
            logs.log.info("stopped")

    return alive
