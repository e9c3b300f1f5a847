"""Answers about models, from the store where they are known and from the Hub where they are not."""

import asyncio
import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from fse_core import __version__
from fse_core.errors import FetchError, FseError, OutOfTime
from fse_core.read.hub import HubFiles
from fse_core.read.model import Document, Model
from fse_core.report import Report, Source
from fse_core.target import Target
from service.apart import apart
from service.checking import config_body, config_report
from service.examples import Example
from service.facts import PASSING, Facts, Located
from service.flights import Flights
from service.hub import Hub
from service.problems import Problem
from service.processes import Processes
from service.questions import Check, Headed, Question, model_of, of_files, of_folder
from service.readings import Answer, Reading, Readings, of_headers
from service.recent import Recent
from service.settings import Settings
from service.store.guard import Guarded

T = TypeVar("T")

ENGINE: Final = __version__


@dataclass(frozen=True, kw_only=True)
class Served:
    """A report, or another answer about a model, as it goes out.

    body: the `fse.report/1` object as JSON, the same bytes for the same (revision, commit, question, engine).
    etag: strong, quoted. until: the Unix time up to which the same answer holds, infinite at a commit, 0 for one that
    must not be kept. age: seconds since it was known to be current, None where it is current; such a one is served
    because the Hub cannot be reached, with `warning` saying so. private: it was read with the caller's token. stored:
    the headers that it follows from, as a page shows them.
    """

    body: bytes
    etag: str
    source: Source
    until: float = 0.0
    age: float | None = None
    warning: str | None = None
    private: bool = False
    stored: bytes | None = None


@dataclass(frozen=True, kw_only=True)
class Pending:
    """An answer whose headers are being read."""

    model: str
    reading: Reading
    finish: Callable[[Answer], Served]

    async def wait(self, seconds: float | None = None) -> Served | None:
        """The answer; None where that takes longer than so many seconds."""
        try:
            answer = await self.reading.answer(seconds)
        except FseError as error:
            raise of_headers(error, self.model) from None
        return None if answer is None else self.finish(answer)

    async def whole(self) -> Served:
        """The answer, however long it takes."""
        with self.reading.held():
            served = await self.wait()
        assert served is not None
        return served


class Reports:
    """The service's one way to an answer. Raises FetchError and InputError, as the core does; Problem where it takes
    too long.
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
        each, seconds = settings.inline_each, settings.check_seconds
        self._processes = Processes(
            "checks of configs that are sent", most=settings.inline_most, each=each, seconds=seconds
        )
        self._sweeps = Processes("questions about many releases", most=settings.sweep_most, each=each, seconds=seconds)
        self._readings = Readings(store, settings)

    async def for_model(self, repo: str, revision: str, target: Target, token: str | None = None) -> Served:
        """The report for a model on the Hub."""
        return await self.answer(repo, revision, Check(target=target), token)

    async def answer(self, repo: str, revision: str, question: Question, token: str | None = None) -> Served:
        """The answer for a model on the Hub. With a token, nothing is taken from what others asked, nor left there."""
        if token is not None:
            return await self._private(repo, revision, question, token)
        key = (repo, revision, question.text)
        served = self._recent.get(key)
        if served is not None:
            return served
        try:
            served = await self._public(repo, revision, question)
        except FetchError as error:
            example = self._examples.get(repo)
            if example is None or example.made_up or revision != "main" or error.kind not in PASSING:
                raise
            shipped = await self.shipped(repo, question)
            return replace(shipped, until=0.0, warning=_SHIPPED)
        if served.until:
            self._recent.put(key, served, len(served.body), served.until)
        return served

    async def headed(self, repo: str, revision: str, question: Headed, token: str | None = None) -> Served | Pending:
        """The answer by the headers of the model's files where they were read before, else their reading.

        With a token, who asked has to wait for it: nothing of it is there for whoever asks later.
        """
        if token is not None:
            files = await self._private_files(repo, revision, token)
            reading = await self._readings.join("", files, question, token)
            return Pending(
                model=repo, reading=reading, finish=lambda answer: _headed(answer, files.source, private=True)
            )
        key = (repo, revision, question.text)
        served = self._recent.get(key)
        if served is not None:
            return served
        located = await self._facts.locate(repo, revision)
        name = _key(located.source, question)

        def finish(answer: Answer) -> Served:
            served = self._current(_headed(answer, located.source), located)
            if served.until:
                self._recent.put(key, served, len(answer.report) + len(answer.stored), served.until)
            return served

        known = await self._readings.known(name)
        if known is not None:
            return finish(known)
        files = await self._facts.files(located.source, located.files)
        return Pending(model=repo, reading=await self._readings.join(name, files, question), finish=finish)

    async def headed_whole(self, repo: str, revision: str, question: Headed, token: str | None = None) -> Served:
        """The same once it is there."""
        found = await self.headed(repo, revision, question, token)
        return await found.whole() if isinstance(found, Pending) else found

    async def for_config(
        self,
        config: Mapping[str, Any],
        hf_quant_config: Mapping[str, Any] | None,
        target: Target,
        documents: tuple[Document, ...] = (),
    ) -> tuple[Model, Report]:
        """The model that a config which the caller holds describes, and its report. Nothing is kept."""
        with _in_time():
            return await self._processes.run(config_report, config, hf_quant_config, target, documents)

    async def body_for_config(
        self, config: Mapping[str, Any], hf_quant_config: Mapping[str, Any] | None, target: Target
    ) -> bytes:
        """That report as it is sent."""
        with _in_time():
            return await self._processes.run(config_body, config, hf_quant_config, target)

    async def example(self, name: str, target: Target) -> Served:
        """The report for a shipped model; KeyError where none has that name."""
        return await self.shipped(name, Check(target=target))

    async def shipped(self, name: str, question: Question) -> Served:
        """The answer for a shipped model; KeyError where none has that name."""
        folder = self._examples[name].folder.resolve()
        key = ("example", name, question.text)
        served = self._recent.get(key)
        if served is None:
            body = await self._making.join(str(key), lambda: self._make(question, of_folder, folder, name))
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
        return await apart(len(files.config), lambda: model_of(files))

    async def close(self) -> None:
        await self._readings.close()
        await self._making.end()
        await self._facts.close()
        await self._processes.close()
        await self._sweeps.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _public(self, repo: str, revision: str, question: Question) -> Served:
        located = await self._facts.locate(repo, revision)
        key = _key(located.source, question)
        # Where the files have only now come from the Hub, nobody can have made this answer before.
        entry = None if isinstance(located.files, HubFiles) else await self._store.get("report", key)
        body = entry.value if entry else await self._making.join(key, lambda: self._made(key, located, question))
        return self._current(Served(body=body, etag=etag_of(body), source=located.source), located)

    def _current(self, served: Served, located: Located) -> Served:
        """The answer with how long it holds, or why it may not be current."""
        if located.trouble is not None:
            age = max(0.0, time.time() - located.at)
            return replace(served, age=age, warning=_warning(located.trouble))
        fixed = located.source.revision == located.source.commit
        return replace(served, until=math.inf if fixed else located.at + self._settings.branch_seconds)

    async def _made(self, key: str, located: Located, question: Question) -> bytes:
        files = await self._facts.files(located.source, located.files)
        body = await self._make(question, of_files, files)
        await self._store.put("report", key, body)
        return body

    async def _private(self, repo: str, revision: str, question: Question, token: str) -> Served:
        files = await self._private_files(repo, revision, token)
        body = await self._make(question, of_files, files)
        return Served(body=body, etag=etag_of(body), source=files.source, private=True)

    async def _private_files(self, repo: str, revision: str, token: str) -> HubFiles:
        files = (await self._hub.latest(repo, revision, token)).files
        if not isinstance(files, HubFiles):
            raise files or FetchError("broken", f"{repo}: no files")
        return files

    async def _make(self, question: Question, work: Callable[..., bytes], *given: Any) -> bytes:
        if question.quick:
            return await self._thread(lambda: work(*given, question))
        with _in_time():
            return await self._sweeps.run(work, *given, question)

    async def _thread(self, work: Callable[[], T]) -> T:
        working = asyncio.get_running_loop().run_in_executor(self._threads, work)
        seconds = self._settings.check_seconds
        try:
            with _in_time():
                return await asyncio.wait_for(working, seconds)
        except TimeoutError:
            raise Problem("too-slow", f"not checked within {seconds:g} s", retry_after=60) from None


@contextmanager
def _in_time() -> Iterator[None]:
    """A check inside that gave up becomes a Problem."""
    try:
        yield
    except OutOfTime as error:
        raise Problem("too-slow", error.reason, retry_after=60) from None


_SHIPPED: Final = (
    "The Hub cannot be reached, and nothing is known about this model from before: "
    "this is the answer for the facts that are shipped with the service."
)


def _warning(trouble: FetchError) -> str:
    if trouble.kind == "rate_limited":
        return "The Hub limits requests now: this is the last known answer."
    return "The Hub cannot be reached: this is the last known answer."


def _key(source: Source, question: Question | Headed) -> str:
    told = f"{source.id}@{source.revision} {source.commit} {question.text} {ENGINE}"
    return hashlib.sha256(told.encode()).hexdigest()


def _headed(answer: Answer, source: Source, *, private: bool = False) -> Served:
    return Served(body=answer.report, etag=etag_of(answer.report), source=source, private=private, stored=answer.stored)


def etag_of(body: bytes) -> str:
    """A strong tag for these bytes."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'
