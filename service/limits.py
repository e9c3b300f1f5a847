"""How much one client may ask for, how large a body may be, and how long it may take to arrive."""

import asyncio
from collections.abc import Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.problems import Problem
from service.settings import Settings
from service.state import State
from service.store.base import Allowance

WINDOW: Final = 60
"""Seconds in which a client may make `rate` requests."""

_FREE: Final = ("/livez", "/readyz", "/metrics", "/static/")


def client(scope: Scope, *, trust_forwarded: bool) -> str:
    """Who asks: the connection's address, or the one that the proxy in front saw."""
    if trust_forwarded:
        for name, value in reversed(scope["headers"]):
            if name == b"x-forwarded-for":
                last: str = value.decode("latin-1").rpartition(",")[2].strip()
                return last[:64]
    return str((scope.get("client") or ("unknown",))[0])


async def spend(scope: Scope, cost: int) -> Allowance | None:
    """Counts `cost` requests of the client; raises the problem where it made too many. None where nothing limits."""
    state: State = scope["state"]
    settings = state["settings"]
    if settings.rate <= 0 or cost <= 0:
        return None
    who = client(scope, trust_forwarded=settings.trust_forwarded)
    allowance = await state["store"].hit(who, settings.rate, WINDOW, cost)
    if allowance.left < 0:
        raise Problem("rate-limited", f"more than {settings.rate} requests in {WINDOW} s", retry_after=allowance.reset)
    return allowance


class Limited:
    """Answers those who ask too often, and refuses a body that is too large or too slow before it is parsed."""

    def __init__(self, app: ASGIApp, settings: Settings, answer: Callable[[Request, Problem], Response]) -> None:
        self._app = app
        self._settings = settings
        self._answer = answer
        self._policy = f'"client";q={settings.rate};w={WINDOW}'.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(_FREE):
            await self._app(scope, receive, send)
            return
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
        most = self._settings.body_most
        too_large = Problem("too-large", f"a request's body may hold {most} bytes")
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value[:20]) > most:
                raise too_large
        body = bytearray()
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        break
                    body += message.get("body", b"")
                    if len(body) > most:
                        raise too_large
                    if not message.get("more_body"):
                        break
        except TimeoutError:
            raise Problem("timeout", f"no whole body within {self._settings.body_seconds:g} s") from None
        sent = False

        async def again() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        return again
