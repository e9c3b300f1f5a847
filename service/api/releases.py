"""`GET /v1/releases`: what each known release does about shared experts."""

import functools
import json
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from fse_core import releases
from fse_core.errors import InputError
from fse_core.output.releases.json import releases_to_dict
from fse_core.releases.history import history
from service import openapi
from service.api.replies import Reply
from service.problems import Problem
from service.reports import ENGINE, etag_of

router = APIRouter(tags=["releases"])

_KEPT: Final = {"Cache-Control": "public, max-age=60", "X-FSE-Engine": ENGINE}
_VERSION: Final[dict[str, Any]] = {
    "name": "version", "in": "path", "required": True, "description": "A known release, or latest.",
    "schema": {"enum": ["latest", *releases.known()]}, "example": "0.33.0",
}  # fmt: skip


@router.get(
    "/v1/releases",
    operation_id="releases-list",
    summary="All releases that are known",
    response_class=Response,
    responses=openapi.answer_responses("Releases", "All of them, the oldest first."),
)
async def listed(request: Request) -> Response:
    """Each in full: defaults of the environment, classes that fuse, the gate, its words, known faults, what changed."""
    return _reply(None).to(request.scope)


@router.get(
    "/v1/releases/{version}",
    operation_id="releases-one",
    summary="One release",
    response_class=Response,
    responses=openapi.answer_responses("Releases", "This one alone.", "not-found"),
    openapi_extra={"parameters": [_VERSION]},
)
async def one(request: Request) -> Response:
    """The same object with one release in it. A version that is not known has no entry, though others answer for it."""
    return _reply(known(request.path_params["version"])).to(request.scope)


def known(version: str) -> str:
    """The usual name of a known release. Problem where it is none."""
    try:
        if releases.is_known(version):
            return releases.resolve(version)
    except InputError:
        pass
    first, last = releases.known()[0], releases.known()[-1]
    raise Problem("not-found", f"no release is known as {version[:60]}; known are {first} to {last}")


@functools.cache
def _reply(version: str | None) -> Reply:
    """Made once: the releases do not change while the service runs."""
    told = releases_to_dict(history(None if version is None else [version]))
    body = json.dumps(told, separators=(",", ":"), ensure_ascii=True).encode()
    return Reply(_KEPT, body, etag=etag_of(body))
