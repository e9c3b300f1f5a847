"""A model's page: the verdict, every layer, the reasons, and what to paste."""

import json
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from fse_core.errors import InputError
from fse_core.read.model import Model
from fse_core.target import Target
from service import ids, targets
from service.pages import controls, facts
from service.pages.base import answer, html, kept
from service.pages.controls import Pairs
from service.pages.errors import error_page
from service.pages.view import view_of
from service.problems import Problem
from service.reports import Served

router = APIRouter(include_in_schema=False)


@router.get("/models/{org}/{name}")
async def model(request: Request, org: str, name: str) -> Response:
    """The page of a model on the Hub."""
    return await _answer(request, f"{org}/{name}", shipped=False)


@router.get("/examples/{org}/{name}")
async def example(request: Request, org: str, name: str) -> Response:
    """The page of a shipped model."""
    return await _answer(request, f"{org}/{name}", shipped=True)


async def _answer(request: Request, name: str, *, shipped: bool) -> Response:
    given = request.query_params.multi_items()
    clean = controls.cleaned(given)
    if clean != given:
        return RedirectResponse(controls.link(request.url.path, clean), 303)
    try:
        return await _found(request, name, clean, shipped)
    except Problem as problem:
        return error_page(request, problem, name)


async def _found(request: Request, name: str, query: Pairs, shipped: bool) -> Response:
    revision, target = read_query(query)
    if shipped:
        target = target if query else facts.target_of(facts.shipped(request, name))
        served = await facts.example(request, name, target)
    else:
        served = await facts.on_hub(request, _checked(name), revision, target)

    async def make() -> bytes:
        model = await facts.model_of(request, served)
        made_up = shipped and facts.shipped(request, name).made_up
        context = _context(served, name, revision, target, model, shipped=shipped, made_up=made_up)
        return html(request, "model.html", context)

    if served.private or served.warning is not None:
        return answer(await make())
    return await kept(request, served.etag, make)


def read_query(query: Pairs) -> tuple[str, Target]:
    """The revision and the target that an address names. Problem where it names none."""
    revisions = [text for name, text in query if name == "revision"]
    try:
        return ids.revision((revisions or ["main"])[-1]), targets.from_query(query, also=("revision",))
    except InputError as error:
        raise Problem("invalid-input", error.message, path=error.path) from None


def _checked(name: str) -> str:
    org, _, rest = name.partition("/")
    try:
        return ids.model(org, rest)
    except InputError as error:
        raise Problem("not-found", error.message) from None


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
    told = controls.pairs(target)
    exact: Pairs = [("revision", served.source.commit)] if served.source.commit else []
    return {
        "view": view_of(json.loads(served.body), served.source, target, model),
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
        "compare_link": controls.link("/compare", [("a", name), ("b", name)], _twice(told)),
    }


def _twice(told: Pairs) -> Pairs:
    return [(f"{side}.{key}", text) for side in ("a", "b") for key, text in told]
