"""The application: its layers, its routes, its errors."""

import importlib
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Protocol

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from service import openapi, problems, state
from service.api import badge, batch, check, compare, examples, health, models
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

_HERE = Path(__file__).resolve().parent

ErrorPage = Callable[[Request, Problem], Response]


class Answer(Protocol):
    """How a problem goes out to whoever asked."""

    def __call__(self, request: Request, problem: Problem, headers: Mapping[str, str] | None = None) -> Response: ...


def create_app(settings: Settings | None = None) -> FastAPI:
    """The service. Its settings are the environment's unless given."""
    settings = settings or Settings()
    metrics = Metrics()
    pages = importlib.import_module("service.pages")
    answer = _answering(getattr(pages, "error_page", None))
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
            Middleware(Limited, settings=settings, answer=answer),
            Middleware(Again),
        ],
    )
    for room in (models, check, batch, compare, examples, badge, health, problem_pages):
        app.include_router(room.router)
    app.include_router(health.metrics_router(metrics))
    if hasattr(pages, "router"):
        app.include_router(pages.router, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=_HERE / "static", check_dir=False), name="static")
    _answer_errors(app, answer)
    app.openapi = lambda: openapi.document(app, settings.batch_most)  # type: ignore[method-assign]
    return app


def _answering(error_page: ErrorPage | None) -> Answer:
    """Problems for programs; for a browser that asks for a page, the page that `error_page` makes of the problem."""

    def answer(request: Request, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
        wants_page = "text/html" in request.headers.get("accept", "")
        if error_page is not None and wants_page and not request.url.path.startswith(("/v1/", "/badge/")):
            return error_page(request, problem)
        return problems.response(problem, headers)

    return answer


def _answer_errors(app: FastAPI, answer: Answer) -> None:
    async def of_problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, Problem)
        return answer(request, error)

    async def of_status(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return answer(request, _problem_of(error), error.headers)

    app.add_exception_handler(Problem, of_problem)
    app.add_exception_handler(HTTPException, of_status)


def _problem_of(error: HTTPException) -> Problem:
    match error.status_code:
        case HTTPStatus.NOT_FOUND:
            return Problem("not-found", "nothing is at this address")
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return Problem("method-not-allowed", "this address does not take that method")
        case _:
            return Problem("invalid-input", str(error.detail))
