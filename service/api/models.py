"""`GET /v1/models/{org}/{name}`: the report for a model on the Hub."""

from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service import ids, openapi, state
from service.api import inputs
from service.api.replies import Reply, for_report, remembered
from service.targets import names_release, to_query

router = APIRouter(tags=["models"])

PROBLEMS: Final = (
    "token-not-accepted",
    "gated",
    "not-found",
    "revision-not-found",
    "config-not-found",
    "invalid-input",
    "unreadable-config",
    "upstream-broken",
    "upstream-unavailable",
    "upstream-rate-limited",
    "too-slow",
    "busy",
)


@router.get(
    "/v1/models/{org}/{name}",
    operation_id="models-report",
    summary="The report for a model on the Hub",
    response_class=Response,
    responses=openapi.report_responses(*PROBLEMS),
    openapi_extra={
        "parameters": [*openapi.PATH_PARAMETERS, openapi.REVISION, *openapi.TARGET],
        "security": openapi.SECURITY,
    },
)
async def report(request: Request) -> Response:
    """What the release does with every layer of the model, as `fse.report/1`.

    A gated or private model is read with the caller's own Hub token, which is used for this request alone; its answer
    is stored nowhere.
    """
    return await remembered(request, _made)


async def _made(request: Request, token: str | None) -> Reply:
    model, revision, target = inputs.asked(request)
    with inputs.fetching(model, revision):
        served = await state.of(request)["reports"].for_model(model, revision, target, token)
    pinned = ids.is_commit(revision) and names_release(request.query_params.multi_items())
    location = "" if pinned else f"/v1/models/{model}?revision={served.source.commit}&{to_query(target)}"
    return for_report(served, location, state.of(request)["settings"].branch_seconds, pinned=pinned)
