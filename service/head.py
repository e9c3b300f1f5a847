"""HEAD wherever GET is answered: the same head, without the body."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Head:
    """What is inside sees a GET; what is outside, and the server, still see the HEAD."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def bodiless(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        inner = {**scope, "method": "GET"}
        try:
            await self._app(inner, receive, bodiless)
        finally:
            if "route" in inner:
                scope["route"] = inner["route"]  # the log and the numbers name it
