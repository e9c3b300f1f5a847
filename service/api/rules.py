"""`GET /v1/rules`: what each finding means, as `fse rules` and `fse explain` tell it."""

import functools
import json
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from fse_core.errors import InputError
from fse_core.output.words.rules import rules_to_dict
from fse_core.rules.texts import ids, resolve, texts
from fse_core.ruletext import RuleText
from service import openapi
from service.api.replies import Reply
from service.problems import Problem
from service.reports import ENGINE, etag_of

router = APIRouter(tags=["rules"])

_KEPT: Final = {"Cache-Control": "public, max-age=60", "X-FSE-Engine": ENGINE}
_ID: Final[dict[str, Any]] = {
    "name": "id", "in": "path", "required": True, "description": "A rule's id, or its name.",
    "schema": {"enum": [name for rule in texts() for name in (rule.id, rule.name)]}, "example": "FSE101",
}  # fmt: skip


@router.get(
    "/v1/rules",
    operation_id="rules-list",
    summary="All rules",
    response_class=Response,
    responses=openapi.answer_responses("Rules", "All of them, by id."),
)
async def listed(request: Request) -> Response:
    """Each with its severity, how sure it is, and its text in Markdown."""
    return _reply(None).to(request.scope)


@router.get(
    "/v1/rules/{id}",
    operation_id="rules-one",
    summary="One rule",
    response_class=Response,
    responses=openapi.answer_responses("Rules", "This one alone.", "not-found"),
    openapi_extra={"parameters": [_ID]},
)
async def one(request: Request) -> Response:
    """The same object with one rule in it."""
    return _reply(known(request.path_params["id"]).id).to(request.scope)


def known(name: str) -> RuleText:
    """The rule of that id, in any case, or that name. Problem where there is none."""
    try:
        found = resolve(name[:100], ids(), "id")
    except InputError as error:
        raise Problem("not-found", error.message) from None
    return next(rule for rule in texts() if rule.id == found)


@functools.cache
def _reply(id: str | None) -> Reply:
    """Made once: the rules do not change while the service runs."""
    told = rules_to_dict([rule for rule in texts() if id in (None, rule.id)])
    body = json.dumps(told, separators=(",", ":"), ensure_ascii=True).encode()
    return Reply(_KEPT, body, etag=etag_of(body))
