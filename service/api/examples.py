"""`GET /v1/examples`: the shipped models, which need no network."""

import json
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service import openapi, state
from service.api import inputs
from service.api.replies import for_report, has
from service.doubt import doubtful
from service.examples import Example
from service.problems import Problem
from service.questions import Check
from service.reports import ENGINE, Reports, etag_of
from service.targets import to_query

router = APIRouter(tags=["examples"])

_ITEM = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "made_up": {"type": "boolean", "description": "No published checkpoint has this quantization block."},
        "target": {"type": "object", "description": "What it is shown for."},
        "verdict": {"type": "string"},
        "doubtful": {"type": "boolean", "description": "It fuses, and a finding says that something goes wrong."},
        "report": {"type": "string", "description": "Where its report is."},
    },
    "required": ["name", "made_up", "target", "verdict", "doubtful", "report"],
}
_LIST = {
    "type": "object",
    "properties": {"engine": {"type": "string"}, "examples": {"type": "array", "items": _ITEM}},
    "required": ["engine", "examples"],
}


@router.get(
    "/v1/examples",
    operation_id="examples-list",
    summary="The shipped models",
    response_class=Response,
    responses={
        200: {"description": "All of them, by name.", "content": {"application/json": {"schema": _LIST}}},
        304: {"description": "The list is the one that If-None-Match names."},
        **openapi.problems(),
    },
)
async def examples(request: Request) -> Response:
    """Each with the target that it is shown for, and the verdict there."""
    here = state.of(request)
    shown = [await _shown(example, here["reports"]) for example in here["examples"].values()]
    body = json.dumps({"engine": ENGINE, "examples": shown}).encode()
    etag = etag_of(body)
    headers = {"ETag": etag, "Cache-Control": "public, max-age=60", "X-FSE-Engine": ENGINE}
    if has(request.scope, etag):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


@router.get(
    "/v1/examples/{org}/{name}",
    operation_id="examples-report",
    summary="The report for a shipped model",
    response_class=Response,
    responses=openapi.report_responses("not-found", "invalid-input", "too-slow"),
    openapi_extra={"parameters": [*openapi.PATH_PARAMETERS, openapi.IGNORE, *openapi.TARGET]},
)
async def report(request: Request) -> Response:
    """As for a model on the Hub; without parameters, for the target that the example is shown for."""
    here = state.of(request)
    model, _, target = inputs.asked(request, revisions=False, also=("ignore",))
    named = any(name != "ignore" for name in request.query_params)
    example = here["examples"].get(model)
    if example is None:
        raise Problem("not-found", f"no shipped model is named {model}")
    question = Check(target=example.target_for(target, named=named), ignore=inputs.ignored(request))
    served = await here["reports"].shipped(model, question)
    # A shipped model has no commit: another version of this service may ship another.
    return for_report(served, "", here["settings"].branch_seconds, pinned=False).to(request.scope)


async def _shown(example: Example, reports: Reports) -> Mapping[str, Any]:
    served = await reports.example(example.name, example.target)
    report = json.loads(served.body)
    return {
        "name": example.name,
        "made_up": example.made_up,
        "target": report["target"],
        "verdict": report["verdict"],
        "doubtful": doubtful(report),
        "report": f"/v1/examples/{example.name}?{to_query(example.target)}",
    }
