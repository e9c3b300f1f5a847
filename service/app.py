"""The application: its layers, its routes, its errors."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from service import openapi, pages, problems, state
from service.api import badge, batch, check, compare, diff, examples, headed, health, matrix, models, releases, rules
from service.api import problems as problem_pages
from service.api.replies import Again
from service.head import Head
from service.limits import Limited
from service.metrics import Metrics
from service.problems import Problem
from service.reports import ENGINE
from service.security import SecurityHeaders
from service.settings import Settings
from service.watch import Watched


def create_app(settings: Settings | None = None) -> FastAPI:
    """The service. Its settings are the environment's unless given."""
    settings = settings or Settings()
    metrics = Metrics()
    app = FastAPI(
        title="fse",
        version=ENGINE,
        description=openapi.DESCRIPTION,
        lifespan=state.lifespan(settings),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        middleware=[
            Middleware(SecurityHeaders, public_url=settings.public_url),
            Middleware(Watched, metrics=metrics),
            Middleware(Head),
            Middleware(Limited, settings=settings, answer=_answer),
            Middleware(Again),
        ],
    )
    for room in (models, headed, matrix, diff, check, batch, compare, releases, rules, examples, badge, health):
        app.include_router(room.router)
    app.include_router(problem_pages.router)
    app.include_router(health.metrics_router(metrics))
    app.include_router(pages.router)
    app.add_exception_handler(Problem, _of_problem)
    app.add_exception_handler(HTTPException, _of_status)
    app.openapi = lambda: openapi.document(app, settings.batch_most)  # type: ignore[method-assign]
    return app


def _answer(request: Request, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """A page for a browser that asks for one; the problem itself for programs."""
    wants_page = "text/html" in request.headers.get("accept", "")
    if wants_page and not request.url.path.startswith(("/v1/", "/badge/")):
        response = pages.error_page(request, problem)
    else:
        response = problems.response(problem)
    response.headers.update(headers or {})
    return response


async def _of_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return _answer(request, error)


async def _of_status(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(request, _problem_of(error), error.headers)


def _problem_of(error: HTTPException) -> Problem:
    match error.status_code:
        case HTTPStatus.NOT_FOUND:
            return Problem("not-found", "nothing is at this address")
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return Problem("method-not-allowed", "this address does not take that method")
        case _:
            return Problem("invalid-input", str(error.detail))
