"""How a report goes out: its headers, and nothing where the caller has it already."""

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from service import ids, state
from service.api import inputs
from service.recent import Recent
from service.reports import ENGINE, Served
from service.targets import names_release

IMMUTABLE: Final = "public, max-age=31536000, immutable"

_OF_304: Final = frozenset({b"age", b"cache-control", b"content-location", b"etag", b"vary", b"warning"})
"""What a 304 repeats (RFC 9110, 15.4.5), and how current the answer is."""

Head = list[tuple[bytes, bytes]]


class Ready(Response):
    """An answer whose head is already as it is sent."""

    def __init__(self, status: int, head: Head, body: bytes) -> None:
        self.status_code = status
        self.body = body
        self.background = None
        self.raw_headers = head


class Reply:
    """An answer made ready to be sent, again and again, until a Unix time. Without a tag it is always sent whole."""

    __slots__ = ("_body", "_etag", "_head", "_short", "_status", "route", "size", "until")

    def __init__(
        self,
        headers: Mapping[str, str],
        body: bytes,
        *,
        media_type: str = "application/json",
        etag: str | None,
        until: float = 0.0,
        status: int = 200,
    ) -> None:
        tagged = headers if etag is None else {**headers, "ETag": etag}
        whole: Head = [(name.lower().encode(), value.encode()) for name, value in tagged.items()]
        self._short = [(name, value) for name, value in whole if name in _OF_304]
        self._head: Head = [
            *whole,
            (b"content-type", media_type.encode()),
            (b"content-length", str(len(body)).encode()),
        ]
        self._body = body
        self._etag = etag
        self._status = status
        self.size = len(body)
        self.until = until
        self.route: object = None

    def to(self, scope: Scope) -> Response:
        """The whole, or 304 where the caller has it."""
        if self._etag is not None and has(scope, self._etag):
            return Ready(304, self._short, b"")
        return Ready(self._status, self._head, self._body)


class Again:
    """Answers what was answered a moment ago without asking the routes; never a caller who sends a token."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply = self._known(scope) if scope["type"] == "http" and scope["method"] == "GET" else None
        if reply is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = reply.route
        await reply.to(scope)(scope, receive, send)

    def _known(self, scope: Scope) -> Reply | None:
        recent: Recent[Reply] = scope["state"]["recent"]
        reply = recent.get((scope["path"], scope["query_string"]))
        return None if reply is None or any(name == b"authorization" for name, _ in scope["headers"]) else reply


async def remembered(request: Request, make: Callable[[Request, str | None], Awaitable[Reply]]) -> Response:
    """What `make` makes with the caller's token, if any; without one, `Again` is left to answer the next time."""
    scope = request.scope
    token = inputs.token(request)
    reply = await make(request, token)
    if reply.until and token is None:
        reply.route = scope.get("route")
        recent: Recent[Reply] = scope["state"]["recent"]
        recent.put((scope["path"], scope["query_string"]), reply, reply.size, reply.until)
    return reply.to(scope)


def for_report(
    served: Served, location: str, branch_seconds: float, *, pinned: bool, more: Mapping[str, str] | None = None
) -> Reply:
    """A report as JSON; `location` is where the same one stands at its commit and release, `more` are more headers."""
    headers = {"X-FSE-Engine": ENGINE, **(more or {}), **keeping(served, branch_seconds, pinned=pinned)}
    if location and served.until:
        headers["Content-Location"] = location
    etag = None if served.private else served.etag
    return Reply(headers, served.body, etag=etag, until=served.until)


def at_commit(
    request: Request, served: Served, revision: str, query: str, more: Mapping[str, str] | None = None
) -> Reply:
    """A model's report; `query` asks for the same at the commit that is put before it."""
    pinned = ids.is_commit(revision) and names_release(request.query_params.multi_items())
    location = "" if pinned else f"{request.url.path}?revision={served.source.commit}&{query}"
    return for_report(served, location, state.of(request)["settings"].branch_seconds, pinned=pinned, more=more)


def has(scope: Scope, etag: str) -> bool:
    """Whether If-None-Match names the tag; a weak comparison, as RFC 9110 (13.1.2) asks for."""
    for name, value in scope["headers"]:
        if name == b"if-none-match":
            tags = {tag.strip().removeprefix("W/") for tag in value.decode("latin-1").split(",")}
            return etag in tags or "*" in tags
    return False


def keeping(served: Served, branch_seconds: float, *, pinned: bool) -> Mapping[str, str]:
    """How long an answer may be kept, and why it may not be current. `pinned`: its address names commit and release."""
    if served.private:
        return {"Cache-Control": "private, no-store"}
    if served.warning is not None:
        aged = {} if served.age is None else {"Age": str(int(served.age))}
        return {"Vary": "Authorization", "Cache-Control": "no-cache", "Warning": f'111 - "{served.warning}"', **aged}
    if pinned and math.isinf(served.until):
        return {"Vary": "Authorization", "Cache-Control": IMMUTABLE}
    return {"Vary": "Authorization", "Cache-Control": f"public, max-age={int(branch_seconds)}"}
