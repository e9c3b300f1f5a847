"""`GET /badge/{org}/{name}.svg`: the verdict as a picture."""

import json
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from fse_core.errors import FetchError, FseError
from fse_core.target import Target
from service import badge, ids, openapi, state, targets
from service.apart import apart
from service.api import inputs
from service.api.replies import Reply, keeping, remembered
from service.problems import Problem
from service.questions import Headed
from service.reports import ENGINE, Served, etag_of
from service.targets import names_release

router = APIRouter(tags=["models"])

_SVG: Final = "image/svg+xml"
_WORDS: Final = {"gated": "gated", "missing_repo": "not found", "missing_revision": "not found"}
_KEPT: Final = 300
"""Seconds for which a badge of a branch is kept: a model card is looked at often, and changes seldom."""

_READING_KEPT: Final = 10
_GLANCE: Final = 0.5
"""Seconds that a badge waits for headers."""


@router.get(
    "/badge/{org}/{name}.svg",
    operation_id="models-badge",
    summary="The verdict as a badge",
    response_class=Response,
    responses={
        200: {
            "description": "The verdict's words; `not found`, `gated` or `unknown` where there is no report, "
            "`reading headers` while those that were asked for are read.",
            "content": {_SVG: {"schema": {"type": "string"}}},
        },
        304: {"description": "The badge is the one that If-None-Match names."},
        **openapi.problems("invalid-input", "too-slow", "busy"),
    },
    openapi_extra={"parameters": [*openapi.PATH_PARAMETERS, openapi.REVISION, openapi.HEADERS, *openapi.TARGET]},
)
async def of_model(request: Request) -> Response:
    """For model cards: `![](https://host/badge/org/name.svg?gfx=gfx942&tp=8)`. Only what is public is shown."""
    return await remembered(request, _made)


async def _made(request: Request, _: str | None) -> Reply:
    model, revision, target = inputs.asked(request, also=("headers",))
    mode = inputs.headers(request)
    headers = {"X-FSE-Engine": ENGINE, "Cache-Control": "public, max-age=60"}
    pinned = ids.is_commit(revision) and names_release(request.query_params.multi_items())
    until = 0.0
    try:
        served = await _served(request, model, revision, target, mode)
    except _Reading:
        headers["Cache-Control"] = f"public, max-age={_READING_KEPT}"
        body = badge.of_failure("reading headers", f"{model}: the headers of its files are being read")
    except FseError as error:
        words = _WORDS.get(error.kind, "unknown") if isinstance(error, FetchError) else "unknown"
        body = badge.of_failure(words, f"{model}: {words}")
    else:
        body = await apart(len(served.body), lambda: badge.of_report(json.loads(served.body)))
        headers |= keeping(served, _KEPT, pinned=pinned)
        until = served.until
    return Reply(headers, body, media_type=_SVG, etag=etag_of(body), until=until)


class _Reading(Exception):
    """The answer is not there yet."""


async def _served(request: Request, model: str, revision: str, target: Target, mode: targets.Headers) -> Served:
    """The report, by the headers where they are asked for. A model's files may have none that can be read."""
    reports = state.of(request)["reports"]
    if mode == "none":
        return await reports.for_model(model, revision, target)
    found = await reports.headed(model, revision, Headed(target=target, mode=mode))
    if isinstance(found, Served):
        return found
    found.reading.look()
    try:
        served = await found.wait(_GLANCE)
    except Problem as problem:
        if problem.name != "unreadable-headers":
            raise
        raise FetchError("broken", problem.detail) from None
    if served is None:
        raise _Reading
    return served
