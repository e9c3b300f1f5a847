"""How a page is made: the templates, what all of them know, and answers that a browser may keep."""

import functools
import hashlib
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response

import fse_core
from fse_core import releases
from service import state
from service.pages.ages import ago
from service.pages.layers import WORDS
from service.pages.memory import readable
from service.pages.statics import address
from service.recent import Recent

_TEMPLATES: Final = Path(__file__).resolve().parent.parent / "templates"
_KEPT: Final = 32 * 1024 * 1024
"""How many bytes of finished pages are kept, the latest."""

_SOURCE: Final = re.compile(
    r"(?P<path>(?:[a-z0-9_]+/)+[a-z0-9_]+\.py):(?P<line>\d{1,6})(?=[^;]{0,100}? at (?P<release>\d+\.\d+\.\d+))"
)

_finished: Final[WeakKeyDictionary[Any, Recent[tuple[bytes, str]]]] = WeakKeyDictionary()
"""By application: two of them may show different models."""


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(asset=address, version=fse_core.__version__, state_words=WORDS)
    made.filters.update(ago=ago, bytes=readable, coded=_coded, cited=_cited, began=_began)
    return made


def _coded(text: str) -> Markup:
    """`words` between backticks as code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))


def _cited(text: str) -> Markup:
    """With links to the lines of a release's source that are named: `models/hy_v3.py:198 at 0.28.0`."""

    def link(found: re.Match[str]) -> str:
        path = found["path"].removeprefix("vllm/")
        address = f"https://github.com/vllm-project/vllm/blob/v{found['release']}/vllm/{path}#L{found['line']}"
        return f'<a href="{address}" rel="noreferrer">{found["path"]}:{found["line"]}</a>'

    return Markup(_SOURCE.sub(link, str(escape(text))))


def _began(text: str) -> str:
    """As at the beginning of a sentence; names further on stay as they are."""
    return text if text.startswith("vLLM") else text[:1].upper() + text[1:]


def base_url(request: Request) -> str:
    """How this service is reached from outside, without a slash at the end."""
    told = state.of(request)["settings"].public_url
    return (told or str(request.base_url)).rstrip("/")


def html(request: Request, template: str, context: Mapping[str, Any]) -> bytes:
    """The page as bytes."""
    ends = {"oldest": releases.known()[0], "latest": releases.known()[-1]}
    shown = {"here": request.url.path, "base": base_url(request), **ends, **context}
    return _environment().get_template(template).render(shown).encode()


def page(request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> Response:
    """A page that is made anew each time and that nobody keeps."""
    return answer(html(request, template, context), status)


def answer(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A finished page that nobody keeps."""
    return Response(body, status, {"Cache-Control": "no-store", **(headers or {})}, media_type="text/html")


async def kept(request: Request, key: object, make: Callable[[], Awaitable[bytes]]) -> Response:
    """The page that `make` makes, once for each `key` and address; a browser asks whether it has changed."""
    finished = _finished.setdefault(request.app, Recent(_KEPT))
    whole = (base_url(request), request.url.path, request.url.query, key)
    found = finished.get(whole)
    if found is None:
        body = await make()
        found = (body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
        finished.put(whole, found, len(body), math.inf)
    body, etag = found
    headers = {"Cache-Control": "no-cache", "ETag": etag}
    if etag in request.headers.get("if-none-match", ""):
        # Named html although it has no body: a browser takes over the policy that goes with it for the page it has.
        return Response(None, 304, headers, media_type="text/html")
    return Response(body, 200, headers, media_type="text/html")
