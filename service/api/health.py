"""Whether the process lives, whether it can do its work, and its numbers."""

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from service import openapi, state
from service.metrics import Metrics
from service.problems import Problem
from service.reports import ENGINE

router = APIRouter(tags=["health"])

_STATUS = {
    "type": "object",
    "properties": {"status": {"const": "ok"}, "engine": {"type": "string"}},
    "required": ["status", "engine"],
}
_OK: dict[int | str, dict[str, Any]] = {
    200: {"description": "Yes.", "content": {"application/json": {"schema": _STATUS}}}
}
_NO_STORE = {"Cache-Control": "no-store"}


@router.get("/livez", operation_id="health-live", summary="Whether the process answers", responses={**_OK})
async def live() -> Response:
    """Touches nothing: a store or a Hub that is away is no reason to start the process anew."""
    return JSONResponse({"status": "ok", "engine": ENGINE}, headers=_NO_STORE)


@router.get(
    "/readyz",
    operation_id="health-ready",
    summary="Whether requests should be sent here",
    responses={**_OK, 503: openapi.problems("not-ready")[503]},
)
async def ready(request: Request) -> Response:
    """No while the service drains, and while its store cannot be written: it answers then, but remembers nothing."""
    here = state.of(request)
    if here["draining"].is_set():
        raise Problem("not-ready", "the service is about to stop", retry_after=10)
    if not await here["store"].ping():
        kind = here["settings"].store.partition(":")[0]
        raise Problem("not-ready", f"the store ({kind}) cannot be used", retry_after=10)
    return JSONResponse({"status": "ok", "engine": ENGINE}, headers=_NO_STORE)


def metrics_router(metrics: Metrics) -> APIRouter:
    """The route that shows `metrics`."""
    made = APIRouter(tags=["health"])

    @made.get(
        "/metrics",
        operation_id="health-metrics",
        summary="Numbers for Prometheus",
        response_class=PlainTextResponse,
        responses={200: {"description": "The text format."}},
    )
    async def numbers() -> Response:
        return Response(metrics.text(), headers=_NO_STORE, media_type="text/plain; version=0.0.4")

    return made
