"""A model on all releases and GPUs, as a page of its own; a model's page takes the table from it."""

import json
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from fse_core.output.words.summary import option_words
from fse_core.target import Target
from service import spans
from service.api import inputs
from service.pages import controls, facts
from service.pages.about import About, shown
from service.pages.base import answer, html, kept
from service.pages.matrix_view import table_of
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
    clean = controls.cleaned(request.query_params.multi_items())
    return await shown(request, clean, lambda: _found(request, shipped))


async def _found(request: Request, shipped: bool) -> Response:
    pairs = request.query_params.multi_items()
    found = inputs.example(request) if shipped else None
    name, revision = inputs.named(request)
    with inputs.reading():
        asked = spans.matrix(pairs, found, () if shipped else ("revision",))
    served = await facts.answer(request, name, revision, asked.question, shipped=shipped)

    about = About(name=name, revision=revision, shipped=shipped)

    async def make() -> bytes:
        context = _context(served, about, asked.question.target)
        return html(request, "matrix.html", {**context, "json_link": controls.link(f"/v1{request.url.path}", pairs)})

    if served.warning is not None:
        return answer(await make())
    return await kept(request, served.etag, make)


def _context(served: Served, about: About, target: Target) -> dict[str, Any]:
    data = json.loads(served.body)
    return {
        "table": table_of(data, lambda vllm, gfx: about.at(replace(target, vllm=vllm, gfx=gfx))),
        "served": served,
        "name": about.name,
        "revision": about.revision,
        "options": ", ".join(option_words(data["options"])),
        "form": controls.values(target),
        "model_link": about.at(target),
    }
