"""The home page and the search: a model's name, and the shipped models on both GPU generations."""

import asyncio
import json
import re
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from fse_core import releases
from fse_core.errors import InputError
from fse_core.target import Target
from service import ids, targets
from service.api.releases import known
from service.examples import Example
from service.pages import controls, facts
from service.pages.base import html, kept, page
from service.pages.errors import error_page
from service.pages.layers import FUSED, Layers, layers_of
from service.pages.verdict import Verdict, verdict_of
from service.problems import Problem

router = APIRouter()

_GPUS: Final = ("gfx942", "gfx950")
_HUB_ADDRESS: Final = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/([^/?#\s]+/[^/?#\s]+).*")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One shipped model on one GPU."""

    link: str
    gfx: str
    verdict: Verdict
    fused: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Row:
    """One shipped model."""

    name: str
    made_up: bool
    options: str
    cells: tuple[Cell, ...]


@router.get("/")
async def home(request: Request) -> Response:
    """What one release does with the shipped models. Kept for ever: they do not change while the service runs."""
    given = request.query_params.get("vllm", "").strip()
    try:
        vllm = known(given) if given else releases.known()[-1]
    except Problem as problem:
        return error_page(request, problem)
    usual = [] if vllm == releases.known()[-1] else [("vllm", vllm)]
    if request.query_params.multi_items() != usual:
        return RedirectResponse(controls.link("/", usual), 303)

    async def make() -> bytes:
        return html(request, "home.html", _context(await _rows(request, vllm), "", vllm))

    return await kept(request, "home", make)


@router.get("/search")
async def search(request: Request) -> Response:
    """To the model that was named, or to what the words match."""
    words = request.query_params.get("q", "").strip()
    usual = ("vllm", releases.known()[-1])
    clean = controls.cleaned(request.query_params.multi_items())
    given = [(name, text) for name, text in clean if name != "q" and (name, text) != usual]
    if not words:
        return RedirectResponse("/", 303)
    try:
        name, revision = ids.model_and_revision(words, "q")
    except InputError:
        return await _matches(request, words)
    asked = [] if revision == "main" else [("revision", revision)]
    return RedirectResponse(controls.link(f"/models/{quote(name)}", asked, given), 303)


async def _matches(request: Request, words: str) -> Response:
    asked = request.query_params.get("vllm")
    vllm = asked if asked in releases.known() else releases.known()[-1]
    rows = [row for row in await _rows(request, vllm) if words.lower() in row.name.lower()]
    address = _HUB_ADDRESS.fullmatch(words)
    context = {**_context(rows, words, vllm), "meant": address[1] if address else None}
    return page(request, "search.html", context, 200 if rows or address else 404)


def _context(rows: list[Row], words: str, vllm: str) -> dict[str, Any]:
    return {
        "words": words,
        "vllm": vllm,
        "releases": controls.offered(vllm),
        "gpus": {gfx: controls.GPUS[gfx] for gfx in _GPUS},
        "models": [row for row in rows if not row.made_up],
        "made_up": [row for row in rows if row.made_up],
    }


async def _rows(request: Request, vllm: str) -> list[Row]:
    return list(await asyncio.gather(*(_row(request, example, vllm) for example in facts.examples(request))))


async def _row(request: Request, example: Example, vllm: str) -> Row:
    target = replace(example.target, vllm=vllm)
    overlay = "" if target.overlay is None else ", quantized while loading"
    cells = [await _cell(request, example.name, replace(target, gfx=gfx)) for gfx in _GPUS]
    return Row(name=example.name, made_up=example.made_up, options=f"tp {target.tp}{overlay}", cells=tuple(cells))


async def _cell(request: Request, name: str, target: Target) -> Cell:
    report = json.loads((await facts.example(request, name, target)).body)
    layers = layers_of(report)
    return Cell(
        link=controls.link(f"/examples/{name}", targets.to_pairs(target)),
        gfx=target.gfx,
        verdict=verdict_of(report, layers),
        fused=layers.count(*FUSED),
        total=_total(layers),
    )


def _total(layers: Layers) -> int:
    return sum(answer.count for answer in layers.answers if answer.part == "target" and answer.state != "none")
