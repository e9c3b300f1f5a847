"""Reports for models, from the store where they are known and from the Hub where they are not."""

import asyncio
import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from fse_core import __version__, check
from fse_core.errors import FetchError
from fse_core.output.json import report_to_dict
from fse_core.read.hub import HubFiles
from fse_core.read.model import Model
from fse_core.read.source import model_from_bytes, model_from_dict
from fse_core.report import Report, Source
from fse_core.target import Target
from service.examples import Example
from service.facts import Facts
from service.flights import Flights
from service.hub import Hub
from service.problems import Problem
from service.recent import Recent
from service.settings import Settings
from service.store.guard import Guarded

T = TypeVar("T")

ENGINE: Final = __version__

_PASSING: Final = ("unreachable", "offline", "broken", "rate_limited")


@dataclass(frozen=True, kw_only=True)
class Served:
    """A report as it goes out.

    body: the `fse.report/1` object as JSON, the same bytes for the same (revision, commit, target, engine).
    etag: strong, quoted. until: the Unix time up to which the same answer holds, infinite at a commit, 0 for one that
    must not be kept. age: seconds since it was known to be current, None where it is current; such a report is served
    because the Hub cannot be reached, with `warning` saying so. private: it was read with the caller's token.
    """

    body: bytes
    etag: str
    source: Source
    until: float = 0.0
    age: float | None = None
    warning: str | None = None
    private: bool = False


class Reports:
    """The service's one way to a report. Raises FetchError and InputError, as the core does; Problem where a check
    takes too long.
    """

    def __init__(self, *, store: Guarded, hub: Hub, examples: Mapping[str, Example], settings: Settings) -> None:
        self._store = store
        self._hub = hub
        self._facts = Facts(store, hub, settings)
        self._examples = examples
        self._settings = settings
        self._recent: Recent[Served] = Recent(settings.memory_most // 2)
        self._making: Flights[bytes] = Flights()
        # Few threads: checks hold the interpreter's lock, and the event loop must get its turn.
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="fse-check")

    async def for_model(self, repo: str, revision: str, target: Target, token: str | None = None) -> Served:
        """The report for a model on the Hub. With a token, nothing is taken from what others asked, nor left there."""
        if token is not None:
            return await self._private(repo, revision, target, token)
        key = (repo, revision, _text(target))
        served = self._recent.get(key)
        if served is not None:
            return served
        try:
            served = await self._public(repo, revision, target)
        except FetchError as error:
            example = self._examples.get(repo)
            if example is None or example.made_up or revision != "main" or error.kind not in _PASSING:
                raise
            shipped = await self.example(repo, target)
            return replace(shipped, until=0.0, warning=_SHIPPED)
        if served.until:
            self._recent.put(key, served, len(served.body), served.until)
        return served

    async def for_config(
        self, config: Mapping[str, Any], hf_quant_config: Mapping[str, Any] | None, target: Target
    ) -> Report:
        """The report for a config that the caller holds. Nothing is kept."""
        return await self._thread(lambda: _checked(model_from_dict(config, hf_quant_config), target))

    async def example(self, name: str, target: Target) -> Served:
        """The report for a shipped model; KeyError where none has that name."""
        example = self._examples[name]
        key = ("example", name, _text(target))
        served = self._recent.get(key)
        if served is None:
            body = await self._making.join(str(key), lambda: self._thread(lambda: _example_body(example, target)))
            source = Source(kind="inline", id=name)
            served = Served(body=body, etag=etag_of(body), source=source, until=math.inf)
            self._recent.put(key, served, len(body), served.until)
        return served

    async def model(self, served: Served) -> Model | None:
        """The facts behind a public report, None where they are not at hand."""
        if served.source.kind != "hub":
            example = self._examples.get(served.source.id)
            return None if example is None else await self._thread(example.model)
        if served.private:
            return None
        try:
            files = await self._facts.files(served.source)
        except FetchError:
            return None
        return model_from_bytes(files.config, hf_quant_config=files.hf_quant_config, source=files.source)

    async def close(self) -> None:
        await self._making.end()
        await self._facts.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _public(self, repo: str, revision: str, target: Target) -> Served:
        located = await self._facts.locate(repo, revision)
        source = located.source
        key = hashlib.sha256(f"{repo}@{revision} {source.commit} {_text(target)} {ENGINE}".encode()).hexdigest()
        entry = await self._store.get("report", key)
        body = entry.value if entry else await self._making.join(key, lambda: self._made(key, source, target))
        served = Served(body=body, etag=etag_of(body), source=source)
        if located.trouble is not None:
            age = max(0.0, time.time() - located.at)
            return replace(served, age=age, warning=_warning(located.trouble))
        fixed = revision == source.commit
        return replace(served, until=math.inf if fixed else located.at + self._settings.branch_seconds)

    async def _made(self, key: str, source: Source, target: Target) -> bytes:
        files = await self._facts.files(source)
        body = await self._thread(lambda: _body(files, target))
        await self._store.put("report", key, body)
        return body

    async def _private(self, repo: str, revision: str, target: Target, token: str) -> Served:
        source = await self._hub.resolve(repo, revision, token)
        files = await self._hub.files(source, token)
        body = await self._thread(lambda: _body(files, target))
        return Served(body=body, etag=etag_of(body), source=source, private=True)

    async def _thread(self, work: Callable[[], T]) -> T:
        working = asyncio.get_running_loop().run_in_executor(self._threads, work)
        seconds = self._settings.check_seconds
        try:
            return await asyncio.wait_for(working, seconds)
        except TimeoutError:
            raise Problem("too-slow", f"not checked within {seconds:g} s", retry_after=60) from None


_SHIPPED: Final = (
    "The Hub cannot be reached, and nothing is known about this model from before: "
    "this is the answer for the facts that are shipped with the service."
)


def _warning(trouble: FetchError) -> str:
    if trouble.kind == "rate_limited":
        return "The Hub limits requests now: this is the last known answer."
    return "The Hub cannot be reached: this is the last known answer."


def body_of(report: Report) -> bytes:
    """The `fse.report/1` object as the service sends it."""
    # ASCII alone: a name in the config may hold what UTF-8 cannot.
    return json.dumps(report_to_dict(report), separators=(",", ":"), ensure_ascii=True).encode()


def _checked(model: Model, target: Target) -> Report:
    """The report. One that was given up for lack of time is no answer: it would be kept as if it were."""
    report = check(model, target)
    if report.out_of_time:
        raise Problem("too-slow", str(report.undecided_reason), retry_after=60)
    return report


def _body(files: HubFiles, target: Target) -> bytes:
    model = model_from_bytes(files.config, hf_quant_config=files.hf_quant_config, source=files.source)
    return body_of(_checked(model, target))


def _example_body(example: Example, target: Target) -> bytes:
    model: Model = replace(example.model(), source=Source(kind="inline", id=example.name))
    return body_of(_checked(model, target))


def _text(target: Target) -> str:
    return json.dumps(target.as_dict(), sort_keys=True, separators=(",", ":"))


def etag_of(body: bytes) -> str:
    """A strong tag for these bytes."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'
