"""How much one client may ask for, how large a body may be, and how long it may take to arrive."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from ipaddress import IPv6Address, IPv6Network
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.apart import LARGE
from service.lane import Lane, asking
from service.problems import Problem
from service.settings import Settings
from service.state import State
from service.store.base import Allowance

WINDOW: Final = 60
"""Seconds in which a client may make `rate` requests."""

_LARGE_BODIES: Final = 16
"""Large bodies of which a part has arrived, and is held in memory until the rest has."""

_FREE: Final = ("/livez", "/readyz", "/metrics", "/static/")


def client(scope: Scope, *, trust_forwarded: bool) -> str:
    """Who asks: the connection's address, or the one that the proxy in front saw."""
    if trust_forwarded:
        for name, value in reversed(scope["headers"]):
            if name == b"x-forwarded-for":
                last: str = value.decode("latin-1").rpartition(",")[2].strip()
                return _network(last[:64])
    return _network(str((scope.get("client") or ("unknown",))[0]))


def _network(address: str) -> str:
    """The address; of IPv6, the /64 that one customer has and may choose any address in."""
    if ":" not in address:
        return address
    try:
        found = IPv6Address(address)
    except ValueError:
        return address
    return str(found.ipv4_mapped or IPv6Network((found.packed[:8] + bytes(8), 64)))


async def spend(scope: Scope, cost: int) -> Allowance | None:
    """Counts `cost` requests of the client; raises the problem where it made too many. None where nothing limits."""
    state: State = scope["state"]
    settings = state["settings"]
    if settings.rate <= 0 or cost <= 0:
        return None
    allowance = await state["store"].hit(asking.get(), settings.rate, WINDOW, cost)
    if allowance.left < 0:
        raise Problem("rate-limited", f"more than {settings.rate} requests in {WINDOW} s", retry_after=allowance.reset)
    return allowance


class Limited:
    """Answers those who ask too often, and refuses a body that is too large or too slow before it is parsed."""

    def __init__(self, app: ASGIApp, settings: Settings, answer: Callable[[Request, Problem], Response]) -> None:
        self._app = app
        self._settings = settings
        self._answer = answer
        self._large = Lane("large bodies", _LARGE_BODIES, each=_LARGE_BODIES // 4, waiting=_LARGE_BODIES)
        self._policy = f'"client";q={settings.rate};w={WINDOW}'.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(_FREE):
            await self._app(scope, receive, send)
            return
        asking.set(client(scope, trust_forwarded=self._settings.trust_forwarded))
        try:
            allowance = await spend(scope, 1)
            if scope["method"] == "POST":
                receive = await self._body(scope, receive)
        except Problem as problem:
            await self._answer(Request(scope), problem)(scope, receive, send)
            return
        await self._app(scope, receive, send if allowance is None else self._told(send, allowance))

    def _told(self, send: Send, allowance: Allowance) -> Send:
        left = f'"client";r={allowance.left};t={int(allowance.reset) + 1}'.encode()

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"ratelimit-policy", self._policy), (b"ratelimit", left)]
            await send(message)

        return told

    async def _body(self, scope: Scope, receive: Receive) -> Receive:
        """The whole body, read within the limits; what comes after it is still the connection's to tell."""
        too_large = Problem("too-large", f"a request's body may hold {self._settings.body_most} bytes")
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value[:20]) > self._settings.body_most:
                raise too_large
        try:
            async with asyncio.timeout(self._settings.body_seconds), AsyncExitStack() as place:
                body = bytearray()
                async for part in _parts(receive):
                    if len(body) <= LARGE < len(body) + len(part):
                        await place.enter_async_context(self._large.place(self._settings.body_seconds / 3))
                    body += part
                    if len(body) > self._settings.body_most:
                        raise too_large
        except TimeoutError:
            raise Problem("timeout", f"no whole body within {self._settings.body_seconds:g} s") from None
        return _again(bytes(body), receive)


async def _parts(receive: Receive) -> AsyncIterator[bytes]:
    while (message := await receive())["type"] == "http.request":
        yield message.get("body", b"")
        if not message.get("more_body"):
            break


def _again(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
