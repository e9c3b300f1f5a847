"""`GET /v1/compare`: two models, or one model on two targets."""

import asyncio
import json
import math
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from fse_core.errors import InputError
from service import ids, openapi, state
from service.api import inputs
from service.api.replies import Reply, keeping, remembered
from service.comparison import compare
from service.reports import ENGINE, Served, etag_of
from service.sides import SIDES, Side, read
from service.targets import PARAMETERS

router = APIRouter(tags=["models"])

_ID: Final = {"type": "string", "pattern": ids.FULL, "maxLength": ids.FULL_MOST}
_ANSWER: Final = {
    "type": ["object", "null"],
    "description": "Null where this side has no such layer.",
    "properties": {"decision": {"type": "string"}, "reason": {"type": ["string", "null"]}},
}
_DIFFERENCE: Final = {
    "type": "object",
    "properties": {
        "part": {"enum": ["target", "draft"]},
        "layers": {"type": "array", "items": {"type": "integer"}},
        "a": _ANSWER,
        "b": _ANSWER,
    },
    "required": ["part", "layers", "a", "b"],
}
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "schema": {"const": "fse.compare/1"},
        "engine": {"type": "string"},
        "same": {"type": "boolean", "description": "Whether every layer gets the same answer."},
        "verdicts": {"type": "object", "properties": {side: {"type": "string"} for side in SIDES}},
        "target_differences": {"type": "object"},
        "layer_differences": {"type": "array", "items": _DIFFERENCE},
        "a": openapi.ref("Report"),
        "b": openapi.ref("Report"),
    },
    "required": ["schema", "engine", "same", "verdicts", "target_differences", "layer_differences", "a", "b"],
}
_MODELS: Final = [
    {
        "name": "a", "in": "query", "required": True, "description": "A model, org/name or org/name@revision.",
        "schema": _ID, "example": "deepseek-ai/DeepSeek-R1-0528",
    },
    {
        "name": "b", "in": "query", "required": False, "description": "The other model; `a` remembered where left out.",
        "schema": _ID, "example": "amd/DeepSeek-R1-MXFP4",
    },
]  # fmt: skip


@router.get(
    "/v1/compare",
    operation_id="models-compare",
    summary="Two models, or one model on two targets",
    response_class=Response,
    responses={
        200: {"description": "Both reports.", "content": {"application/json": {"schema": _SCHEMA}}},
        304: {"description": "The comparison is the one that If-None-Match names."},
        **openapi.problems(*openapi.OF_MODEL),
    },
    openapi_extra={
        "parameters": [
            *_MODELS,
            *openapi.TARGET,
            *(parameter.openapi(f"{side}.", f"For `{side}` alone: ") for side in SIDES for parameter in PARAMETERS),
        ],
        "security": openapi.SECURITY,
    },
)
async def compared(request: Request) -> Response:
    """A parameter holds for both sides unless it stands under `a.` or `b.`: `?a=org/name&a.tp=4&b.tp=8`."""
    return await remembered(request, _made)


async def _made(request: Request, token: str | None) -> Reply:
    with inputs.reading():
        sides = read(request.query_params.multi_items())
        for side in sides:
            if not side.asked:
                raise InputError(side.letter, "expected a model, org/name or org/name@revision")
    one, other = await asyncio.gather(*(served_for(request, side, token) for side in sides))
    body = json.dumps(compare(json.loads(one.body), json.loads(other.body), ENGINE), separators=(",", ":")).encode()
    seconds = state.of(request)["settings"].branch_seconds
    least = _least_lasting(one, other)
    headers = {"X-FSE-Engine": ENGINE, **keeping(least, seconds, pinned=all(side.pinned for side in sides))}
    etag = None if token else etag_of(body)
    return Reply(headers, body, etag=etag, until=least.until)


async def served_for(request: Request, side: Side, token: str | None = None) -> Served:
    """The report for one side; for a name that is only among the shipped models, that one."""
    here = state.of(request)
    known = here["examples"].get(side.model)
    if known is not None and known.made_up and side.revision == "main":
        return await here["reports"].example(side.model, side.target)
    with inputs.fetching(side.model, side.revision):
        return await here["reports"].for_model(side.model, side.revision, side.target, token)


def _least_lasting(*served: Served) -> Served:
    """The answer that may be kept for the shortest time; an infinite one only where both are."""

    def lasting(one: Served) -> tuple[Any, ...]:
        return (not one.private, one.warning is None, one.until if one.until else math.inf)

    return min(served, key=lasting)
