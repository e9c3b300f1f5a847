"""Many models at once: a few at a time, each with its own outcome, and no further once nobody listens."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fse_core.errors import FseError
from fse_core.target import Target
from service import doubt, targets
from service.apart import apart
from service.logs import log
from service.problems import Problem, from_error
from service.questions import Headed
from service.reports import Reports, Served

AT_ONCE: Final = 8
_HEADED_AT_ONCE: Final = 2
"""How many readings of headers one batch has running or waiting: others' readings wait for the same places."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What is asked. `models` are pairs of id and revision."""

    models: Sequence[tuple[str, str]]
    target: Target
    token: str | None
    headers: targets.Headers = "none"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one model: a report or a problem."""

    index: int
    model: str
    served: Served | None = None
    problem: Problem | None = None
    worst: str | None = None

    def as_json(self, **more: Any) -> bytes:
        """The outcome's JSON object; the report's bytes are put into it as they are."""
        told: dict[str, Any] = {**more, "index": self.index, "model": self.model}
        told["warning"] = self.served.warning if self.served else None
        told["age"] = int(self.served.age) if self.served and self.served.age is not None else None
        told["worst"] = self.worst
        told["problem"] = self.problem.as_dict() if self.problem else None
        report = self.served.body if self.served else b"null"
        return json.dumps(told, separators=(",", ":")).encode()[:-1] + b',"report":' + report + b"}"


async def outcomes(batch: Batch, reports: Reports, draining: asyncio.Event) -> AsyncGenerator[Outcome]:
    """Each outcome as it comes. Whoever stops reading stops what is under way."""
    waiting = iter(enumerate(batch.models))
    at_once = AT_ONCE if batch.headers == "none" else _HEADED_AT_ONCE
    done: asyncio.Queue[Outcome] = asyncio.Queue()

    async def work() -> None:
        for index, (model, revision) in waiting:
            await done.put(await _outcome(index, model, revision, batch, reports, draining))

    tasks = [asyncio.ensure_future(work()) for _ in range(min(at_once, len(batch.models)))]
    try:
        for _ in batch.models:
            yield await done.get()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _outcome(
    index: int, model: str, revision: str, batch: Batch, reports: Reports, draining: asyncio.Event
) -> Outcome:
    name = f"{model}@{revision}"
    if draining.is_set():
        return Outcome(index=index, model=name, problem=Problem("not-ready", "the service is about to stop"))
    try:
        served = await _served(model, revision, batch, reports)
        worst = await apart(len(served.body), lambda: doubt.worst(json.loads(served.body)))
    except FseError as error:
        return Outcome(index=index, model=name, problem=from_error(error, model, revision))
    except Problem as problem:
        return Outcome(index=index, model=name, problem=problem)
    except Exception as error:
        # The other models' answers do not hang on this one.
        log.error("failed in a batch", model=name, exc_info=error)
        return Outcome(
            index=index, model=name, problem=Problem("internal-error", "This is a fault of the service, in its log.")
        )
    return Outcome(index=index, model=name, served=served, worst=worst)


async def _served(model: str, revision: str, batch: Batch, reports: Reports) -> Served:
    if batch.headers == "none":
        return await reports.for_model(model, revision, batch.target, batch.token)
    question = Headed(target=batch.target, mode=batch.headers)
    return await reports.headed_whole(model, revision, question, batch.token)
