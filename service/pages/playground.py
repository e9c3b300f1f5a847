"""The playground: a config.json that is pasted, and what the release does with it. Nothing is kept."""

from typing import Any
from urllib.parse import parse_qsl

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from fse_core.errors import InputError
from fse_core.output.json import report_to_dict
from fse_core.target import Target
from service import targets
from service.apart import apart
from service.pages import controls, facts
from service.pages.base import page
from service.pages.controls import Pairs
from service.pages.view import View, view_of

router = APIRouter()

_FILES = ("config", "hf_quant_config")


@router.get("/playground")
async def empty(request: Request) -> Response:
    """The form; a target in the address fills its controls."""
    return await _answer(request, {}, controls.cleaned(request.query_params.multi_items()))


@router.post("/playground")
async def check(request: Request) -> Response:
    """The form again, with the answer below it or what is wrong above it."""
    try:
        sent = await request.body()
        files, query = await apart(len(sent), lambda: _form(sent))
    except ValueError:
        return await _answer(request, {}, [], InputError("", "expected a form as this page sends it, in UTF-8"))
    return await _answer(request, files, query)


def _form(body: bytes) -> tuple[dict[str, str], Pairs]:
    """The texts that were pasted, and the target's parameters. ValueError for what this page cannot have sent."""
    sent = parse_qsl(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=100)
    pasted = [(name, text) for name, text in sent if name in _FILES]
    files = dict(pasted)
    if len(files) < len(pasted):
        raise ValueError("a text is given more than once")
    return files, controls.cleaned((name, text) for name, text in sent if name not in _FILES)


async def _answer(request: Request, files: dict[str, str], query: Pairs, error: InputError | None = None) -> Response:
    target, view = targets.from_query([]), None
    if error is None:
        try:
            target = targets.from_query(query)
            view = await _view(request, files, target) if files else None
        except InputError as caught:
            error = caught
    context: dict[str, Any] = {
        "config": files.get("config", ""),
        "hf_quant_config": files.get("hf_quant_config", ""),
        "form": controls.values(target),
        "view": view,
        "error": error,
    }
    return page(request, "playground.html", context, 422 if error else 200)


async def _view(request: Request, files: dict[str, str], target: Target) -> View:
    if not files.get("config", "").strip():
        raise InputError("config.json", "expected the text of a config.json, got nothing")
    model, report = await facts.pasted(request, files["config"], files.get("hf_quant_config", ""), target)
    size = len(files["config"])
    return await apart(size, lambda: view_of(report_to_dict(report), report.source, target, model))
