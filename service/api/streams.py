"""Server-sent events."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

EVENTS: Final = "text/event-stream"
UNBUFFERED: Final = {"X-Accel-Buffering": "no"}
"""Tells a proxy to pass events on as they come."""

WAITING: Final = b": waiting\n\n"
"""A comment that tells proxies that the stream is alive."""


def schema(*names: str) -> dict[str, Any]:
    """What OpenAPI says of one event of a stream."""
    about = "The event's data: JSON on one line."
    data = {"type": "string", "contentMediaType": "application/json", "description": about}
    properties = {"event": {"enum": list(names)}, "data": data}
    return {"type": "object", "properties": properties, "required": ["event", "data"]}


class Stream(StreamingResponse):
    """A streaming response whose source is closed as soon as nobody reads on."""

    def __init__(self, source: AsyncGenerator[bytes], headers: dict[str, str], media_type: str) -> None:
        super().__init__(source, headers=headers, media_type=media_type)
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._source):
            await super().__call__(scope, receive, send)


def event(name: str, data: bytes) -> bytes:
    """One event; the data are JSON on one line."""
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
