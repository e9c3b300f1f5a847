"""`GET /badge/{org}/{name}.svg`: the verdict as a picture."""

import json
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from fse_core.errors import FetchError, FseError
from service import badge, ids, openapi, state
from service.apart import apart
from service.api import inputs
from service.api.replies import Reply, keeping, remembered
from service.reports import ENGINE, etag_of
from service.targets import names_release

router = APIRouter(tags=["models"])

_SVG: Final = "image/svg+xml"
_WORDS: Final = {"gated": "gated", "missing_repo": "not found", "missing_revision": "not found"}
_KEPT: Final = 300
"""Seconds for which a badge of a branch is kept: a model card is looked at often, and changes seldom."""


@router.get(
    "/badge/{org}/{name}.svg",
    operation_id="models-badge",
    summary="The verdict as a badge",
    response_class=Response,
    responses={
        200: {
            "description": "The verdict's words; `not found`, `gated` or `unknown` where there is no report.",
            "content": {_SVG: {"schema": {"type": "string"}}},
        },
        304: {"description": "The badge is the one that If-None-Match names."},
        **openapi.problems("invalid-input", "too-slow", "busy"),
    },
    openapi_extra={"parameters": [*openapi.PATH_PARAMETERS, openapi.REVISION, *openapi.TARGET]},
)
async def of_model(request: Request) -> Response:
    """For model cards: `![](https://host/badge/org/name.svg?gfx=gfx942&tp=8)`. Only what is public is shown."""
    return await remembered(request, _made)


async def _made(request: Request, _: str | None) -> Reply:
    model, revision, target = inputs.asked(request)
    headers = {"X-FSE-Engine": ENGINE, "Cache-Control": "public, max-age=60"}
    pinned = ids.is_commit(revision) and names_release(request.query_params.multi_items())
    until = 0.0
    try:
        served = await state.of(request)["reports"].for_model(model, revision, target)
    except FseError as error:
        words = _WORDS.get(error.kind, "unknown") if isinstance(error, FetchError) else "unknown"
        body = badge.of_failure(words, f"{model}: {words}")
    else:
        body = await apart(len(served.body), lambda: badge.of_report(json.loads(served.body)))
        headers |= keeping(served, _KEPT, pinned=pinned)
        until = served.until
    return Reply(headers, body, media_type=_SVG, etag=etag_of(body), until=until)
