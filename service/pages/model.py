"""A model's page: the verdict, every layer, the reasons, and what to paste."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from fse_core import releases
from fse_core.read.model import Model
from fse_core.sweep import GPUS
from fse_core.target import Target
from service import spans, targets
from service.apart import apart
from service.api import inputs
from service.pages import controls, facts
from service.pages.about import About, shown
from service.pages.base import answer, html, kept
from service.pages.controls import Pairs
from service.pages.headers_view import Reading, reading_of, stored_of
from service.pages.view import view_of
from service.problems import Problem
from service.questions import Check, Headed
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
    return await shown(request, clean, lambda: _shipped(request) if shipped else _on_hub(request))


async def _shipped(request: Request) -> Response:
    name, _, target = inputs.asked(request, revisions=False, also=("ignore",))
    found, ignore = facts.shipped(request, name), inputs.ignored(request)
    target = found.target_for(target, named=any(key != "ignore" for key in request.query_params))
    about = About(name=name, revision="main", shipped=True)
    served = await facts.answer(request, name, "main", Check(target=target, ignore=ignore), shipped=True)
    return await _page(request, Asked(about=about, target=target, served=served, made_up=found.made_up, ignore=ignore))


async def _on_hub(request: Request) -> Response:
    """By the headers where they were asked for and are there; meanwhile, and where they cannot be had, without them."""
    name, revision, target = inputs.asked(request, also=("headers", "ignore"))
    mode, ignore = inputs.headers(request), inputs.ignored(request)
    about = About(name=name, revision=revision, shipped=False)
    served = await facts.answer(request, name, revision, Check(target=target, ignore=ignore), shipped=False)
    asked = Asked(about=about, target=target, served=served, mode=mode, ignore=ignore)
    if mode != "none":
        found = await facts.headed(request, name, revision, Headed(target=target, mode=mode, ignore=ignore))
        match found:
            case Served():
                asked = replace(asked, served=found)
            case Problem():
                asked = replace(asked, trouble=found)
            case _:
                asked = replace(asked, reading=reading_of(found.progress))
    return await _page(request, asked)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the page shows: an answer, or one without headers while `reading` goes on or where there is `trouble`."""

    about: About
    target: Target
    served: Served
    made_up: bool = False
    mode: targets.Headers = "none"
    ignore: tuple[str, ...] = ()
    reading: Reading | None = None
    trouble: Problem | None = None


async def _page(request: Request, asked: Asked) -> Response:
    served = asked.served

    async def make() -> bytes:
        model = await facts.model_of(request, served)
        return await apart(len(served.body), lambda: html(request, "model.html", _context(asked, model)))

    if served.warning is not None or asked.reading or asked.trouble:
        return answer(await make())
    return await kept(request, served.etag, make)


def _context(asked: Asked, model: Model | None) -> dict[str, Any]:
    about, target, served = asked.about, asked.target, asked.served
    report = json.loads(served.body)
    launched = not asked.made_up
    return {
        "view": view_of(report, served.source, target, model, partial(_at, asked), launched=launched),
        "stored": None if served.stored is None else stored_of(served.stored, report["findings"]),
        "asked": asked,
        "served": served,
        "shipped": about.shipped,
        "made_up": asked.made_up,
        "name": about.name,
        "revision": about.revision,
        "form": controls.values(target),
        **_links(asked),
    }


def _links(asked: Asked) -> dict[str, Any]:
    about, target = asked.about, asked.target
    told, more = targets.to_pairs(target), _more(asked.mode, asked.ignore)
    exact: Pairs = [("revision", asked.served.source.commit)] if asked.served.source.commit else []
    gpu, rest = [("gfx", target.gfx)], spans.rest(target)
    other_gpu = [] if target.gfx in GPUS else [("gfx", gfx) for gfx in (*GPUS, target.gfx)]
    modes: Sequence[targets.Headers] = ("sample", "full")
    return {
        "permalink": controls.link(about.path, exact, told, more),
        "json_link": controls.link(f"/v1{about.path}", exact or about.asked, told, more),
        "badge_link": controls.link(f"/badge/{about.name}.svg", about.asked, told, _more(asked.mode, ())),
        "page_link": about.link("", told, _more(asked.mode, ())),
        "here_link": about.link("", told, more),
        "events_link": controls.link(f"/v1{about.path}/headers", about.asked, told, more),
        "headers_links": {mode: about.link("", told, _more(mode, asked.ignore)) for mode in modes},
        "aside": partial(_aside, asked),
        "back": partial(_back, asked),
        "matrix_link": about.link("/matrix", other_gpu, rest),
        "upgrade_link": about.link("/upgrade", _ends(target), gpu, rest),
        "compare_link": controls.link("/compare", [("a", about.name), ("b", about.name)], _twice(told)),
    }


def _at(asked: Asked, target: Target) -> str:
    """This page for another target."""
    return asked.about.link("", targets.to_pairs(target), _more(asked.mode, asked.ignore))


def _aside(asked: Asked, rule: str) -> str:
    """This page without the rule's findings."""
    return _at(replace(asked, ignore=tuple(sorted({*asked.ignore, rule}))), asked.target)


def _back(asked: Asked, rule: str) -> str:
    """This page with them again."""
    return _at(replace(asked, ignore=tuple(one for one in asked.ignore if one != rule)), asked.target)


def _more(mode: targets.Headers, ignore: Sequence[str]) -> Pairs:
    """What an address says besides the target."""
    return [*([] if mode == "none" else [("headers", str(mode))]), *(("ignore", rule) for rule in ignore)]


def _ends(target: Target) -> Pairs:
    """From the target's release to the newest; the newest is compared with the one before it."""
    known = releases.known()
    return [("from", known[-2] if target.vllm == known[-1] else target.vllm), ("to", known[-1])]


def _twice(told: Pairs) -> Pairs:
    return [(f"{side}.{key}", text) for side in ("a", "b") for key, text in told]
