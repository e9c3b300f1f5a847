"""Two models, or one model on two targets, side by side."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from fse_core.errors import InputError
from fse_core.output.words.layers import numbers
from fse_core.report import PartName
from fse_core.target import Target
from service import ids, targets
from service.pages import controls, facts
from service.pages.base import page
from service.pages.controls import Pairs
from service.pages.errors import error_page
from service.pages.layers import Answer, Layers
from service.pages.view import View, view_of
from service.problems import Problem
from service.reports import Served

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two: what was asked, and the answer once both are named."""

    letter: str
    asked: str
    target: Target
    link: str = ""
    view: View | None = None
    served: Served | None = None


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
        sides = [_asked(clean, letter) for letter in ("a", "b")]
        if all(side.asked for side in sides):
            sides = list(await asyncio.gather(*(_answered(request, side) for side in sides)))
    except Problem as problem:
        return error_page(request, problem)
    return page(request, "compare.html", {**_context(sides), "json_link": controls.link("/v1/compare", clean)})


def _asked(query: Pairs, letter: str) -> Side:
    """What an address says of one side. An option without a letter holds for both; A is both where B is not named."""
    named = dict(query)
    own = [(name[2:], text) for name, text in query if name.startswith(f"{letter}.")]
    taken = {name for name, _ in own}
    both = [(name, text) for name, text in query if name[:2] not in ("a", "b", "a.", "b.") and name not in taken]
    try:
        target = targets.from_query([*own, *both])
    except InputError as error:
        path = f"{letter}.{error.path}" if error.path in taken else error.path
        raise Problem("invalid-input", error.message, path=path) from None
    return Side(letter=letter, asked=named.get(letter, named.get("a", "")), target=target)


async def _answered(request: Request, side: Side) -> Side:
    try:
        name, revision = ids.model_and_revision(side.asked, side.letter)
    except InputError as error:
        raise Problem("invalid-input", error.message, path=error.path) from None
    served = await facts.anywhere(request, name, revision, side.target)
    model = await facts.model_of(request, served)
    view = view_of(json.loads(served.body), served.source, side.target, model)
    place = f"/{'models' if served.source.kind == 'hub' else 'examples'}/{name}"
    asked: Pairs = [] if revision == "main" else [("revision", revision)]
    link = controls.link(place, asked, controls.pairs(side.target))
    return Side(letter=side.letter, asked=side.asked, target=side.target, view=view, served=served, link=link)


def _context(sides: list[Side]) -> dict[str, Any]:
    forms = [controls.values(side.target, f"{side.letter}.") for side in sides]
    a, b = (side.view for side in sides)
    rows = [] if a is None or b is None else list(_differences(a.layers, b.layers))
    options = [] if a is None or b is None else list(_options(a, b))
    return {"sides": list(zip(sides, forms, strict=True)), "rows": rows, "options": options}


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
        kind = "Draft layer" if first[0] == "draft" else "Layer"
        title = f"{kind}{'' if len(indices) == 1 else 's'} {numbers(indices)}"
        yield Difference(title=title, count=len(indices), a=left.get(first), b=right.get(first))


def _by_layer(layers: Layers) -> dict[tuple[PartName, int], Answer]:
    answers = {answer.id: answer for answer in layers.answers}
    return {(run.part, index): answers[run.anchor] for run in layers.runs for index in run.indices}
