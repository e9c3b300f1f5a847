"""What another release changes for a model, layer by layer and why."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from fse_core import releases
from service import ids, spans
from service.api import inputs
from service.pages import controls, facts
from service.pages.about import About, shown
from service.pages.base import answer, html, kept, page
from service.pages.errors import error_page
from service.pages.findings import told
from service.pages.layers import State
from service.pages.remedies import Subject
from service.pages.upgrade_view import change_of
from service.pages.verdict import Verdict, verdict_of
from service.problems import Problem
from service.questions import Check, Question, Upgrade

router = APIRouter()

_OUTCOMES: Final[Mapping[str, tuple[State, str]]] = {
    "same": ("none", "Nothing changes"),
    "better": ("separate", "Better than before"),
    "worse": ("breaks", "Worse than before"),
    "different": ("separate", "Different"),
    "undecided": ("undecided", "Undecided"),
}


@dataclass(frozen=True, kw_only=True)
class Side:
    """What one release answers; `link` is its page."""

    vllm: str
    verdict: Verdict
    link: str


@router.get("/upgrade")
async def start(request: Request) -> Response:
    """The form; with a model, on to its page."""
    given = [(name, text.strip()) for name, text in request.query_params.multi_items() if text.strip()]
    named = [text for name, text in given if name == "model"]
    if not named:
        known = releases.known()
        models = [example.name for example in facts.examples(request) if not example.made_up]
        context = {"known": known, "gpus": controls.GPUS, "models": models, "from_": known[-2], "to": known[-1]}
        return page(request, "upgrade_start.html", context)
    try:
        with inputs.reading():
            model, revision = ids.model_and_revision(named[0], "model")
    except Problem as problem:
        return error_page(request, problem)
    rest = [(name, text) for name, text in given if name != "model"]
    made_up = any(example.made_up and example.name == model for example in facts.examples(request))
    return RedirectResponse(About(name=model, revision=revision, shipped=made_up).link("/upgrade", rest), 303)


@router.get("/models/{org}/{name}/upgrade")
async def model(request: Request) -> Response:
    """Of a model on the Hub."""
    return await _answer(request, shipped=False)


@router.get("/examples/{org}/{name}/upgrade")
async def example(request: Request) -> Response:
    """Of a shipped model."""
    return await _answer(request, shipped=True)


async def _answer(request: Request, *, shipped: bool) -> Response:
    clean = controls.cleaned(request.query_params.multi_items())
    have = dict(clean)
    if "from" not in have:
        clean.insert(0, ("from", releases.known()[-2]))
    if "to" not in have:
        clean.insert(1, ("to", releases.known()[-1]))
    return await shown(request, clean, lambda: _found(request, shipped))


async def _found(request: Request, shipped: bool) -> Response:
    pairs = request.query_params.multi_items()
    found = inputs.example(request) if shipped else None
    name, revision = inputs.named(request)
    with inputs.reading():
        question = spans.upgrade(pairs, found, () if shipped else ("revision",)).question
    ends = [replace(question.target, vllm=version) for version in (question.old, question.new)]
    questions: list[Question] = [question, *(Check(target=target) for target in ends)]
    served, *both = await asyncio.gather(
        *(facts.answer(request, name, revision, one, shipped=shipped) for one in questions)
    )

    about = About(name=name, revision=revision, shipped=shipped)

    async def make() -> bytes:
        sides = [
            Side(vllm=target.vllm, verdict=verdict_of(json.loads(one.body)), link=about.at(target))
            for target, one in zip(ends, both, strict=True)
        ]
        context = {
            **_context(json.loads(served.body), question, about),
            "served": served,
            "sides": sides,
            "name": name,
            "revision": revision,
            "json_link": controls.link(f"/v1{about.path}/diff", pairs),
        }
        return html(request, "upgrade.html", context)

    if any(one.warning is not None for one in (served, *both)):
        return answer(await make())
    return await kept(request, served.etag, make)


def _context(diff: Mapping[str, Any], question: Upgrade, about: About) -> dict[str, Any]:
    state, word = _OUTCOMES[diff["outcome"]]
    subject = Subject(target=question.target, place=about.at)
    appeared, gone = (told(diff[name], subject) for name in ("appeared", "gone"))
    turned = [("from", question.new), ("to", question.old), ("gfx", question.target.gfx), *spans.rest(question.target)]
    return {
        "state": state,
        "word": word,
        "changes": [change_of(change) for change in diff["layers"]],
        "appeared": appeared,
        "gone": gone,
        "steps": diff["steps"],
        "back": diff["back"],
        "form": {**controls.values(question.target), "from": question.old, "to": question.new},
        "turned_link": about.link("/upgrade", turned),
    }
