"""A report by the headers of a model's files, which are read in the background: what is known at once, then events."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from fse_core.errors import FseError
from service import openapi, state, targets
from service.api import inputs, streams
from service.api.replies import Reply, at_commit
from service.api.streams import EVENTS, UNBUFFERED, WAITING, Stream, event
from service.problems import Problem, from_error
from service.questions import Check, Headed
from service.readings import Reading
from service.reports import ENGINE, Pending, Served

router = APIRouter(tags=["models"])

_WAIT: Final = re.compile(r"(?:^|,)\s*wait=([0-9]{1,6})\s*(?:$|[,;])")
_AGAIN: Final = 1
"""Seconds after which it makes sense to ask again."""

_MORE: Final = 30.0
"""Seconds beyond those that the Hub has, for a place and for the check."""

_GONE_EVERY: Final = 0.5
_TOLD_EVERY: Final = 0.5
_SILENCE: Final = 10.0

PREFER: Final = {
    "name": "Prefer", "in": "header", "required": False,
    "description": "`wait=60` (RFC 7240): with `headers`, wait so many seconds for the answer before a 202 is sent.",
    "schema": {"type": "string"}, "example": "wait=1",
}  # fmt: skip
ACCEPTED: Final = {
    "description": "The headers are being read: how far that is, and the report from the config alone.",
    "headers": {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}},
    "content": {"application/json": {"schema": openapi.ref("Reading")}},
}
_MODE: Final = {
    **openapi.HEADERS,
    "description": "Of which files: those that show one layer of each kind, or all.",
    "schema": {"enum": ["sample", "full"], "default": "full"},
    "example": "full",
}
_STREAM: Final = {
    "description": "`report` with the answer from the config; `progress` now and then; `report` with the final answer, "
    "or `problem`; and `end`. A caller that goes away ends the reading, unless others wait for it too.",
    "content": {EVENTS: {"schema": streams.schema("report", "progress", "problem", "end")}},
}


async def made(request: Request, token: str | None, mode: targets.Headers) -> Reply:
    """The report where it is known, or is before the caller's patience ends; else how far the reading is.

    With a token nothing can be kept until the caller asks again, so that the answer is waited for.
    """
    model, revision, target = inputs.asked(request, also=("headers", "ignore"))
    assert mode != "none"
    question = Headed(target=target, mode=mode, ignore=inputs.ignored(request))
    reports = state.of(request)["reports"]
    with inputs.fetching(model, revision):
        found = await reports.headed(model, revision, question, token)
        if isinstance(found, Served):
            return _reply(request, found, revision, question)
        served = await _waited(request, found, None if token else _patience(request))
        if served is not None:
            return _reply(request, served, revision, question)
        found.reading.look()
        plain = await reports.answer(model, revision, Check(target=target, ignore=question.ignore))
    events = f"{request.url.path}/headers?{request.url.query}"
    body = json.dumps({**told(found.reading, mode), "events": events, "report": None}).encode()
    body = body.removesuffix(b"null}") + plain.body + b"}"
    headers = {"X-FSE-Engine": ENGINE, "Cache-Control": "no-store", "Retry-After": str(_AGAIN)}
    return Reply(headers, body, etag=None, status=202)


@router.get(
    "/v1/models/{org}/{name}/headers",
    operation_id="models-headers",
    summary="The reading of a model's headers, as events",
    response_class=Response,
    responses={200: _STREAM, **openapi.problems(*openapi.OF_MODEL, "unreadable-headers")},
    openapi_extra={
        "parameters": [*openapi.PATH_PARAMETERS, openapi.REVISION, _MODE, openapi.IGNORE, *openapi.TARGET],
        "security": openapi.SECURITY,
    },
)
async def events(request: Request) -> Response:
    """For who wants to see how far it is. What comes in the end is what the report's own address then answers."""
    token = inputs.token(request)
    model, revision, target = inputs.asked(request, also=("headers", "ignore"))
    mode = inputs.headers(request, "full")
    if mode == "none":
        raise Problem("invalid-input", "expected sample or full", path="headers")
    reports, ignore = state.of(request)["reports"], inputs.ignored(request)
    with inputs.fetching(model, revision):
        plain = await reports.answer(model, revision, Check(target=target, ignore=ignore), token)
        found = await reports.headed(model, revision, Headed(target=target, mode=mode, ignore=ignore), token)
    headers = {"Cache-Control": "private, no-store", "X-FSE-Engine": ENGINE, **UNBUFFERED}
    return Stream(_events(plain, found, model, revision, mode), headers, EVENTS)


def told(reading: Reading, mode: targets.Headers) -> dict[str, Any]:
    """How far it is, for programs."""
    now = reading.progress
    files = {"done": now.files, "total": now.of}
    head = {"schema": "fse.reading/1", "engine": ENGINE, "headers": mode}
    return {**head, "state": now.state, "files": files, "bytes": now.received}


async def _waited(request: Request, found: Pending, seconds: float | None) -> Served | None:
    """The answer if it comes in so many seconds and the caller is still there."""
    loop = asyncio.get_running_loop()
    until = None if seconds is None else loop.time() + seconds
    with found.reading.held():
        while True:
            left = _GONE_EVERY if until is None else min(_GONE_EVERY, until - loop.time())
            served = await found.wait(max(0.0, left))
            if served is not None or (until is not None and loop.time() >= until):
                return served
            if await request.is_disconnected():
                raise Problem("not-ready", "the caller went away")


def _patience(request: Request) -> float:
    """Seconds that the caller prefers to wait."""
    found = _WAIT.search(request.headers.get("prefer", ""))
    return min(float(found[1]), state.of(request)["settings"].headers_seconds + _MORE) if found else 0.0


def _reply(request: Request, served: Served, revision: str, question: Headed) -> Reply:
    query = f"{targets.to_query(question.target, question.ignore)}&headers={question.mode}"
    return at_commit(request, served, revision, query, {"X-FSE-Headers": question.mode})


async def _events(
    plain: Served, found: Served | Pending, model: str, revision: str, mode: targets.Headers
) -> AsyncGenerator[bytes]:
    yield _report(plain, "none")
    problem: Problem | None = None
    try:
        if isinstance(found, Pending):
            async with aclosing(_progress(found, mode)) as progress:
                async for line in progress:
                    yield line
            found = await found.whole()
        yield _report(found, mode)
    except FseError as error:
        problem = from_error(error, model, revision)
    except Problem as error:
        problem = error
    if problem is not None:
        yield event("problem", json.dumps(problem.as_dict()).encode())
    yield event("end", json.dumps({"succeeded": problem is None, "engine": ENGINE}).encode())


async def _progress(found: Pending, mode: targets.Headers) -> AsyncGenerator[bytes]:
    """What is new of it until it is done, and a sign of life where nothing is."""
    last, silent = b"", 0.0
    with found.reading.held():
        while await found.wait(_TOLD_EVERY) is None:
            line = event("progress", json.dumps(told(found.reading, mode)).encode())
            silent = 0.0 if line != last else silent + _TOLD_EVERY
            if line != last:
                yield line
            elif silent >= _SILENCE:
                silent = 0.0
                yield WAITING
            last = line


def _report(served: Served, mode: str) -> bytes:
    return event("report", b'{"headers":"' + mode.encode() + b'","report":' + served.body + b"}")
