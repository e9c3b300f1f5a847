"""Told to stop, the service first says so to whoever balances the load, and then stops."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def on_signal(draining: asyncio.Event, seconds: float) -> Iterator[None]:
    """Sets `draining` at SIGTERM, and passes the signal on to the server after so many seconds."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread alone: here the application runs inside a test
        return
    loop = asyncio.get_running_loop()
    server: Any = signal.getsignal(signal.SIGTERM)

    def handle(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(draining.set)
        if not callable(server):
            return
        if seconds:
            loop.call_soon_threadsafe(loop.call_later, seconds, server, number, frame)
        else:
            server(number, frame)

    signal.signal(signal.SIGTERM, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, server)
