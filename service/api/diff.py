"""`GET .../diff`: what another release changes for a model."""

from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service import openapi, spans, state, targets
from service.api import inputs
from service.api.models import PROBLEMS
from service.api.replies import Reply, for_report, remembered

router = APIRouter()


def _end(name: str, about: str, example: str) -> dict[str, Any]:
    told = {"name": name, "in": "query", "required": True, "description": about}
    return {**told, "schema": dict(targets.RELEASE), "example": example}


PARAMETERS: Final = [
    _end("from", "The release that serves the model now.", "0.31.0"),
    _end("to", "The release that is to serve it; it may be the older one.", "0.33.0"),
    *(parameter.openapi() for parameter in targets.PARAMETERS if parameter.name != "vllm"),
]


@router.get(
    "/v1/models/{org}/{name}/diff",
    operation_id="models-diff",
    summary="What another release changes for a model",
    tags=["models"],
    response_class=Response,
    responses=openapi.answer_responses("Diff", "What changes.", *PROBLEMS),
    openapi_extra={
        "parameters": [*openapi.PATH_PARAMETERS, openapi.REVISION, *PARAMETERS],
        "security": openapi.SECURITY,
    },
)
async def of_model(request: Request) -> Response:
    """Layer by layer and why, as `fse.diff/1`; `outcome` says in one word whether the new release is worse."""
    return await remembered(request, _made)


async def _made(request: Request, token: str | None) -> Reply:
    here = state.of(request)
    model, revision = inputs.named(request)
    with inputs.reading():
        asked = spans.upgrade(request.query_params.multi_items(), also=("revision",))
    with inputs.fetching(model, revision):
        served = await here["reports"].answer(model, revision, asked.question, token)
    place = inputs.at_commit(f"/v1/models/{model}/diff", served, revision, asked)
    return for_report(served, place, here["settings"].branch_seconds, pinned=not place)


@router.get(
    "/v1/examples/{org}/{name}/diff",
    operation_id="examples-diff",
    summary="What another release changes for a shipped model",
    tags=["examples"],
    response_class=Response,
    responses=openapi.answer_responses("Diff", "What changes.", "not-found", "invalid-input", "too-slow", "busy"),
    openapi_extra={"parameters": [*openapi.PATH_PARAMETERS, *PARAMETERS]},
)
async def of_example(request: Request) -> Response:
    """As for a model on the Hub; without options, served as the example is shown."""
    here = state.of(request)
    example = inputs.example(request)
    with inputs.reading():
        asked = spans.upgrade(request.query_params.multi_items(), example)
    served = await here["reports"].shipped(example.name, asked.question)
    return for_report(served, "", here["settings"].branch_seconds, pinned=False).to(request.scope)
