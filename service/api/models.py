"""`GET /v1/models/{org}/{name}`: the report for a model on the Hub."""

from functools import partial

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service import openapi, state
from service.api import headed, inputs
from service.api.replies import Reply, at_commit, remembered
from service.questions import Check
from service.targets import to_query

router = APIRouter(tags=["models"])


@router.get(
    "/v1/models/{org}/{name}",
    operation_id="models-report",
    summary="The report for a model on the Hub",
    response_class=Response,
    responses={**openapi.report_responses(*openapi.OF_MODEL, "unreadable-headers"), 202: headed.ACCEPTED},
    openapi_extra={
        "parameters": [
            *(*openapi.PATH_PARAMETERS, openapi.REVISION, openapi.HEADERS, headed.PREFER, openapi.IGNORE),
            *openapi.TARGET,
        ],
        "security": openapi.SECURITY,
    },
)
async def report(request: Request) -> Response:
    """What the release does with every layer of the model, as `fse.report/1`.

    A gated or private model is read with the caller's own Hub token, which is used for this request alone; its answer
    is stored nowhere. With `headers`, the answer from the config comes at once, with status 202, while they are read.
    """
    mode = inputs.headers(request)
    return await remembered(request, _made if mode == "none" else partial(headed.made, mode=mode))


async def _made(request: Request, token: str | None) -> Reply:
    model, revision, target = inputs.asked(request, also=("headers", "ignore"))
    question = Check(target=target, ignore=inputs.ignored(request))
    with inputs.fetching(model, revision):
        served = await state.of(request)["reports"].answer(model, revision, question, token)
    return at_commit(request, served, revision, to_query(target, question.ignore))
