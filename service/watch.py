"""The outermost layer: each request gets an id, is counted, timed and logged, and never ends in a bare failure."""

import itertools
import secrets
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service import logs, problems
from service.metrics import Metrics

_PROCESS = secrets.token_hex(4)
_numbers = itertools.count()
_QUIET = ("/livez", "/readyz", "/metrics")


class Watched:
    """An exception that nothing else turned into an answer is logged in full and answered without its words."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        request_id = f"{_PROCESS}{next(_numbers):08x}"
        status = 0

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, seen)
        except Exception as error:
            logs.log.error("failed", id=request_id, path=scope["path"], exc_info=error)
            if not status:
                problem = problems.Problem(
                    "internal-error", f"This is a fault of the service; its log has {request_id}."
                )
                await problems.response(problem)(scope, receive, seen)
        finally:
            self._done(scope, request_id, status, time.perf_counter() - started)

    def _done(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        route: Any = scope.get("route")
        pattern = getattr(route, "path", "(none)")
        self._metrics.request(scope["method"], pattern, status, seconds)
        if scope["path"] not in _QUIET:
            logs.access(request_id, scope["method"], scope["path"], status, seconds)
