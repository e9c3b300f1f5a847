"""`POST /v1/batch`: up to some hundred models in one request, with progress as server-sent events."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from fse_core.errors import InputError
from fse_core.read.getters import Fields
from service import ids, limits, openapi, state, targets
from service.api import inputs, streams
from service.api.streams import EVENTS, UNBUFFERED, WAITING, Stream, event
from service.batch import Batch, Outcome, outcomes
from service.reports import ENGINE

router = APIRouter(tags=["models"])

SCHEMA: Final = "fse.batch/1"
Outcomes = AsyncGenerator[Outcome]

_SILENCE: Final = 15.0
"""Seconds after which a comment tells proxies that the stream is alive."""

_OUTCOME: Final = {
    "type": "object",
    "properties": {
        "index": {"type": "integer", "description": "The model's place in what was sent."},
        "model": {"type": "string"},
        "warning": {"type": ["string", "null"], "description": "Why the answer may not be current."},
        "age": {
            "type": ["integer", "null"],
            "description": "Where the Hub cannot be reached: seconds since the answer was known to be current.",
        },
        "worst": {
            "enum": ["error", "warning", "info", None],
            "description": "The severity of the gravest finding; null where there is none, or no report.",
        },
        "problem": {"oneOf": [openapi.ref("Problem"), {"type": "null"}]},
        "report": {"oneOf": [openapi.ref("Report"), {"type": "null"}]},
    },
    "required": ["index", "model", "warning", "age", "worst", "problem", "report"],
}
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "schema": {"const": SCHEMA},
        "engine": {"type": "string"},
        "results": {"type": "array", "items": _OUTCOME},
        "succeeded": {"type": "integer"},
        "failed": {"type": "integer"},
    },
    "required": ["schema", "engine", "results", "succeeded", "failed"],
}
_BODY: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["models"],
    "properties": {
        "models": {
            "type": "array",
            "minItems": 1,
            "maxItems": 200,
            "items": {
                "type": "string",
                "description": "org/name or org/name@revision",
                "pattern": ids.FULL,
                "maxLength": ids.FULL_MOST,
            },
        },
        "target": {"oneOf": [openapi.ref("Target"), {"type": "null"}]},
        "headers": {
            **openapi.HEADERS["schema"],
            "description": "Whether each model's headers are read, and waited for.",
        },
    },
}
_EXAMPLE: Final = {
    "models": ["deepseek-ai/DeepSeek-R1-0528", "moonshotai/Kimi-K2-Instruct@main"],
    "target": {"gfx": "gfx950", "tp": 8},
}


@router.post(
    "/v1/batch",
    operation_id="models-batch",
    summary="The reports for many models",
    response_class=Response,
    responses={
        200: {
            "description": "One result for each model: a report or a problem. As events, each `result` comes when it "
            "is there, with `done` and `total`, and `end` comes last.",
            "content": {
                "application/json": {"schema": _SCHEMA},
                EVENTS: {"schema": streams.schema("result", "end")},
            },
        },
        **openapi.problems("too-large", "timeout", "unsupported-media-type", "invalid-input", "busy"),
    },
    openapi_extra={
        "requestBody": openapi.json_body(_BODY, {"two-models": _EXAMPLE}),
        "security": openapi.SECURITY,
    },
)
async def batch(request: Request) -> Response:
    """Events where the Accept header names text/event-stream, else one JSON object. A caller that goes away ends it.

    Each model counts as one request. A token is used for all models, and for this request alone.
    """
    asked = await _read(request)
    await limits.spend(request.scope, len(asked.models) - 1)
    here = state.of(request)
    found = outcomes(asked, here["reports"], here["draining"])
    headers = {"Cache-Control": "private, no-store", "X-FSE-Engine": ENGINE}
    if EVENTS in request.headers.get("accept", ""):
        return Stream(_events(found, len(asked.models)), {**headers, **UNBUFFERED}, EVENTS)
    return Stream(_whole(found), headers, "application/json")


async def _read(request: Request) -> Batch:
    token = inputs.token(request)
    fields = await inputs.body(request, ("models", "target", "headers"))
    with inputs.reading():
        models = _models(fields, state.of(request)["settings"].batch_most)
        mode = targets.headers("headers", fields.raw.get("headers", "none"))
    return Batch(models=models, target=inputs.target(fields), token=token, headers=mode)


def _models(fields: Fields, most: int) -> list[tuple[str, str]]:
    names = fields.strings("models")
    if not 1 <= len(names) <= most:
        raise InputError("models", f"expected 1 to {most} models, got {len(names)}")
    return [ids.model_and_revision(name, f"models[{index}]") for index, name in enumerate(names)]


async def _events(found: Outcomes, total: int) -> AsyncGenerator[bytes]:
    failed = 0
    yield b": started\n\n"
    async with aclosing(_alive(found)) as alive:
        async for done, outcome in alive:
            if outcome is None:
                yield WAITING
                continue
            failed += outcome.problem is not None
            yield event("result", outcome.as_json(done=done, total=total))
    end = {"succeeded": total - failed, "failed": failed, "engine": ENGINE}
    yield event("end", json.dumps(end).encode())


async def _alive(found: Outcomes) -> AsyncGenerator[tuple[int, Outcome | None]]:
    """Each outcome with its number, and None where none came for a while."""
    count = 0
    pending: asyncio.Future[Outcome] | None = None
    try:
        while True:
            pending = pending or asyncio.ensure_future(anext(found))
            ready, _ = await asyncio.wait({pending}, timeout=_SILENCE)
            if not ready:
                yield count, None
                continue
            try:
                outcome = pending.result()
            except StopAsyncIteration:
                return
            pending, count = None, count + 1
            yield count, outcome
    finally:
        if pending is not None and not pending.done():
            pending.cancel()
            await asyncio.gather(pending, return_exceptions=True)
        await found.aclose()


async def _whole(found: Outcomes) -> AsyncGenerator[bytes]:
    """Sent as it comes, in the order of what was asked, so that a caller that goes away is noticed."""
    yield b'{"schema":"' + SCHEMA.encode() + b'","engine":"' + ENGINE.encode() + b'","results":['
    early: dict[int, Outcome] = {}
    sent = failed = 0
    async with aclosing(found):
        async for outcome in found:
            early[outcome.index] = outcome
            while sent in early:
                ready = early.pop(sent)
                failed += ready.problem is not None
                yield (b"," if sent else b"") + ready.as_json()
                sent += 1
    yield b'],"succeeded":' + str(sent - failed).encode() + b',"failed":' + str(failed).encode() + b"}"
