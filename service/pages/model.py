"""A model's page: the verdict, every layer, the reasons, and what to paste."""

import json
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from fse_core import releases
from fse_core.read.model import Model
from fse_core.sweep import GPUS
from fse_core.target import Target
from service import spans, targets
from service.apart import apart
from service.api import inputs
from service.pages import controls, facts
from service.pages.base import answer, html, kept
from service.pages.controls import Pairs
from service.pages.errors import error_page
from service.pages.view import view_of
from service.problems import Problem
from service.reports import Served

router = APIRouter()


@router.get("/models/{org}/{name}")
async def model(request: Request) -> Response:
    """The page of a model on the Hub."""
    return await _answer(request, shipped=False)


@router.get("/examples/{org}/{name}")
async def example(request: Request) -> Response:
    """The page of a shipped model."""
    return await _answer(request, shipped=True)


async def _answer(request: Request, *, shipped: bool) -> Response:
    given = request.query_params.multi_items()
    clean = controls.cleaned(given)
    if shipped and given and not clean:
        clean = targets.to_pairs(targets.from_query([]))  # an example's address without parameters means its own target
    if clean != given:
        return RedirectResponse(controls.link(request.url.path, clean), 303)
    try:
        return await _found(request, shipped)
    except Problem as problem:
        return error_page(request, problem, "{org}/{name}".format(**request.path_params))


async def _found(request: Request, shipped: bool) -> Response:
    name, revision, target = inputs.asked(request, revisions=not shipped)
    made_up = False
    if shipped:
        found = facts.shipped(request, name)
        target, made_up = found.target_for(target, named=bool(request.query_params)), found.made_up
        served = await facts.example(request, name, target)
    else:
        served = await facts.on_hub(request, name, revision, target)

    async def make() -> bytes:
        model = await facts.model_of(request, served)

        def made() -> bytes:
            context = _context(served, name, revision, target, model, shipped=shipped, made_up=made_up)
            return html(request, "model.html", context)

        return await apart(len(served.body), made)

    if served.private or served.warning is not None:
        return answer(await make())
    return await kept(request, served.etag, make)


def _context(
    served: Served,
    name: str,
    revision: str,
    target: Target,
    model: Model | None,
    *,
    shipped: bool,
    made_up: bool,
) -> dict[str, Any]:
    path = f"/{'examples' if shipped else 'models'}/{name}"
    asked: Pairs = [] if revision == "main" else [("revision", revision)]
    told = targets.to_pairs(target)
    exact: Pairs = [("revision", served.source.commit)] if served.source.commit else []
    gpu, rest = [("gfx", target.gfx)], spans.rest(target)
    other_gpu = [] if target.gfx in GPUS else [("gfx", gfx) for gfx in (*GPUS, target.gfx)]

    def place(changed: Target) -> str:
        return controls.link(path, asked, targets.to_pairs(changed))

    return {
        "view": view_of(json.loads(served.body), served.source, target, model, place),
        "served": served,
        "shipped": shipped,
        "made_up": made_up,
        "name": name,
        "revision": revision,
        "form": controls.values(target),
        "permalink": controls.link(path, exact, told),
        "json_link": controls.link(f"/v1/{'examples' if shipped else 'models'}/{name}", exact or asked, told),
        "badge_link": controls.link(f"/badge/{name}.svg", asked, told),
        "page_link": controls.link(path, asked, told),
        "matrix_link": controls.link(f"{path}/matrix", asked, other_gpu, rest),
        "upgrade_link": controls.link(f"{path}/upgrade", asked, _ends(target), gpu, rest),
        "compare_link": controls.link("/compare", [("a", name), ("b", name)], _twice(told)),
    }


def _ends(target: Target) -> Pairs:
    """From the target's release to the newest; the newest is compared with the one before it."""
    known = releases.known()
    return [("from", known[-2] if target.vllm == known[-1] else target.vllm), ("to", known[-1])]


def _twice(told: Pairs) -> Pairs:
    return [(f"{side}.{key}", text) for side in ("a", "b") for key, text in told]
