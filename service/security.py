"""Headers that say what a browser may do with an answer, and the id by which the log knows a request."""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PAGE: Final = [
    (
        b"content-security-policy",
        b"default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
]
_DATA: Final = [
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
]
_IMAGE: Final = [*_DATA, (b"cross-origin-resource-policy", b"cross-origin")]
_HTTPS: Final = [(b"strict-transport-security", b"max-age=31536000")]


class SecurityHeaders:
    """A page may use what comes from this origin and nothing written into it; data and images, nothing at all."""

    def __init__(self, app: ASGIApp, public_url: str) -> None:
        self._app = app
        self._always = _HTTPS if public_url.startswith("https://") else []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            # A 304 has no content of its own: what was sent with the content still holds.
            if message["type"] == "http.response.start" and message["status"] != 304:
                message["headers"] = [*message["headers"], *_for(scope["path"], message["headers"]), *self._always]
            await send(message)

        await self._app(scope, receive, guarded)


def _for(path: str, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    if path.startswith("/v1/"):
        return _DATA
    if path.startswith("/badge/"):
        return _IMAGE
    html = any(name == b"content-type" and value.startswith(b"text/html") for name, value in headers)
    return _PAGE if html or path.startswith("/static/") else _DATA
