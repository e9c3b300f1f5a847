"""A model on all releases and GPUs, as a page of its own; a model's page takes the table from it."""

import json
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from fse_core.output.words.summary import option_words
from fse_core.target import Target
from service import spans, targets
from service.api import inputs
from service.pages import controls, facts
from service.pages.base import answer, html, kept
from service.pages.controls import Pairs
from service.pages.errors import error_page
from service.pages.matrix_view import table_of
from service.problems import Problem
from service.reports import Served

router = APIRouter()


@router.get("/models/{org}/{name}/matrix")
async def model(request: Request) -> Response:
    """Of a model on the Hub."""
    return await _answer(request, shipped=False)


@router.get("/examples/{org}/{name}/matrix")
async def example(request: Request) -> Response:
    """Of a shipped model."""
    return await _answer(request, shipped=True)


async def _answer(request: Request, *, shipped: bool) -> Response:
    given = request.query_params.multi_items()
    clean = controls.cleaned(given)
    if clean != given:
        return RedirectResponse(controls.link(request.url.path, clean), 303)
    try:
        return await _found(request, shipped)
    except Problem as problem:
        return error_page(request, problem, "{org}/{name}".format(**request.path_params))


async def _found(request: Request, shipped: bool) -> Response:
    pairs = request.query_params.multi_items()
    found = inputs.example(request) if shipped else None
    name, revision = inputs.named(request)
    with inputs.reading():
        asked = spans.matrix(pairs, found, () if shipped else ("revision",))
    served = await facts.answer(request, name, revision, asked.question, shipped=shipped)

    async def make() -> bytes:
        context = _context(served, name, revision, asked.question.target, shipped=shipped)
        return html(request, "matrix.html", {**context, "json_link": controls.link(f"/v1{request.url.path}", pairs)})

    if served.warning is not None:
        return answer(await make())
    return await kept(request, served.etag, make)


def _context(served: Served, name: str, revision: str, target: Target, *, shipped: bool) -> dict[str, Any]:
    path = f"/{'examples' if shipped else 'models'}/{name}"
    asked: Pairs = [] if revision == "main" else [("revision", revision)]

    def place(vllm: str, gfx: str) -> str:
        return controls.link(path, asked, targets.to_pairs(replace(target, vllm=vllm, gfx=gfx)))

    data = json.loads(served.body)
    return {
        "table": table_of(data, place),
        "served": served,
        "name": name,
        "revision": revision,
        "options": ", ".join(option_words(data["options"])),
        "form": controls.values(target),
        "model_link": controls.link(path, asked, targets.to_pairs(target)),
    }
