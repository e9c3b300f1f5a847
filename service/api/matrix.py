"""`GET .../matrix`: one model on all releases and GPUs."""

from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service import openapi, spans, state, targets
from service.api import inputs
from service.api.models import PROBLEMS
from service.api.replies import Reply, for_report, remembered

router = APIRouter()

_OPTIONS: Final = [parameter.openapi() for parameter in targets.PARAMETERS if parameter.name not in ("vllm", "gfx")]
_RANGE: Final = r"^[0-9.]{0,20}\.\.[0-9.]{0,20}$"
PARAMETERS: Final[list[dict[str, Any]]] = [
    {
        "name": "vllm", "in": "query", "required": False,
        "description": "A release, or OLDEST..NEWEST, either end of which may be left out; may be repeated. All "
        "releases that are known unless given.",
        "schema": {
            "type": "array", "maxItems": spans.MOST_RELEASES,
            "items": {"anyOf": [*targets.RELEASE["anyOf"], {"type": "string", "pattern": _RANGE}]},
        },
        "example": ["0.24.0..0.33.0"],
    },
    {
        "name": "gfx", "in": "query", "required": False,
        "description": "GPU architecture; may be repeated. gfx942 and gfx950 unless given.",
        "schema": {"type": "array", "maxItems": spans.MOST_GPUS, "items": dict(targets.GPU)},
        "example": ["gfx942", "gfx950"],
    },
    *_OPTIONS,
]  # fmt: skip


@router.get(
    "/v1/models/{org}/{name}/matrix",
    operation_id="models-matrix",
    summary="A model on all releases and GPUs",
    tags=["models"],
    response_class=Response,
    responses=openapi.answer_responses("Matrix", "The matrix.", *PROBLEMS),
    openapi_extra={
        "parameters": [*openapi.PATH_PARAMETERS, openapi.REVISION, *PARAMETERS],
        "security": openapi.SECURITY,
    },
)
async def of_model(request: Request) -> Response:
    """Since when and until when which release does what, as `fse.matrix/1`: a mark for each, with numbered notes."""
    return await remembered(request, _made)


async def _made(request: Request, token: str | None) -> Reply:
    here = state.of(request)
    model, revision = inputs.named(request)
    with inputs.reading():
        asked = spans.matrix(request.query_params.multi_items(), also=("revision",))
    with inputs.fetching(model, revision):
        served = await here["reports"].answer(model, revision, asked.question, token)
    place = inputs.at_commit(f"/v1/models/{model}/matrix", served, revision, asked)
    return for_report(served, place, here["settings"].branch_seconds, pinned=not place)


@router.get(
    "/v1/examples/{org}/{name}/matrix",
    operation_id="examples-matrix",
    summary="A shipped model on all releases and GPUs",
    tags=["examples"],
    response_class=Response,
    responses=openapi.answer_responses("Matrix", "The matrix.", "not-found", "invalid-input", "too-slow", "busy"),
    openapi_extra={"parameters": [*openapi.PATH_PARAMETERS, *PARAMETERS]},
)
async def of_example(request: Request) -> Response:
    """As for a model on the Hub; without options, served as the example is shown."""
    here = state.of(request)
    example = inputs.example(request)
    with inputs.reading():
        asked = spans.matrix(request.query_params.multi_items(), example)
    served = await here["reports"].shipped(example.name, asked.question)
    return for_report(served, "", here["settings"].branch_seconds, pinned=False).to(request.scope)
