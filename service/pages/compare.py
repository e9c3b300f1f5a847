"""Two models, or one model on two targets, side by side."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from fse_core.report import PartName
from service import targets
from service.api import inputs
from service.api.compare import served_for
from service.pages import controls, facts
from service.pages.base import page
from service.pages.controls import Pairs
from service.pages.errors import error_page
from service.pages.layers import Answer, Layers, title_of
from service.pages.view import View, view_of
from service.problems import Problem
from service.reports import Served
from service.sides import Side, read

router = APIRouter()


@dataclass(frozen=True, kw_only=True)
class Answered:
    """One side's answer. `link` is its own page."""

    side: Side
    view: View
    served: Served
    link: str


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Layers that have one answer on each side."""

    title: str
    count: int
    a: Answer | None
    b: Answer | None

    @property
    def same(self) -> bool:
        if self.a is None or self.b is None:
            return False
        return (self.a.state, self.a.explanation) == (self.b.state, self.b.explanation)


@router.get("/compare")
async def compare(request: Request) -> Response:
    """Both sides' answers where both are named; the form alone where they are not."""
    given = request.query_params.multi_items()
    clean = controls.cleaned(given)
    if clean != given:
        return RedirectResponse(controls.link("/compare", clean), 303)
    try:
        with inputs.reading():
            sides = read(clean)
        asked = all(side.asked for side in sides)
        answers = await asyncio.gather(*(_answered(request, side) for side in sides)) if asked else []
    except Problem as problem:
        return error_page(request, problem)
    forms = [(side, controls.values(side.target, f"{side.letter}.")) for side in sides]
    link = controls.link("/v1/compare", clean)
    return page(request, "compare.html", {"sides": forms, "json_link": link, **_differing(answers)})


async def _answered(request: Request, side: Side) -> Answered:
    served = await served_for(request, side)
    model = await facts.model_of(request, served)
    view = view_of(json.loads(served.body), served.source, side.target, model)
    place = f"/{'models' if served.source.kind == 'hub' else 'examples'}/{side.model}"
    asked: Pairs = [] if side.revision == "main" else [("revision", side.revision)]
    link = controls.link(place, asked, targets.to_pairs(side.target))
    return Answered(side=side, view=view, served=served, link=link)


def _differing(answers: Sequence[Answered]) -> dict[str, Any]:
    if not answers:
        return {"answers": [], "rows": [], "options": []}
    a, b = (answer.view for answer in answers)
    return {"answers": answers, "rows": list(_differences(a.layers, b.layers)), "options": list(_options(a, b))}


def _options(a: View, b: View) -> Iterator[tuple[str, str, str]]:
    """Options of the target that differ."""
    for key, left in a.report["target"].items():
        right = b.report["target"][key]
        if left != right:
            yield key, _shown(left), _shown(right)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _differences(a: Layers, b: Layers) -> Iterator[Difference]:
    left, right = _by_layer(a), _by_layer(b)
    keys = sorted(left.keys() | right.keys(), key=lambda key: (key[0] == "draft", key[1]))
    order: dict[tuple[object, ...], list[tuple[PartName, int]]] = {}
    for part, same in groupby(keys, key=lambda key: key[0]):
        for key in same:
            ids_ = (part, *(side[key].id if key in side else None for side in (left, right)))
            order.setdefault(ids_, []).append(key)
    for grouped in order.values():
        first, indices = grouped[0], [index for _, index in grouped]
        title = title_of(first[0], indices)
        yield Difference(title=title, count=len(indices), a=left.get(first), b=right.get(first))


def _by_layer(layers: Layers) -> dict[tuple[PartName, int], Answer]:
    answers = {answer.id: answer for answer in layers.answers}
    return {(run.part, index): answers[run.anchor] for run in layers.runs for index in run.indices}
