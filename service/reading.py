"""Reads headers and answers with them, in a process that can be stopped. Knows of nothing but the core."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from fse_core import headers
from fse_core.read.hub import HubFiles
from fse_core.read.safetensors.ranges import Budget
from service.channel import Line
from service.checking import body_of, checked, put_aside
from service.questions import Headed, model_of
from service.stored import stored

_TOLD_EVERY: Final = 0.2


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The service's store, as the reader of headers uses one."""

    line: Line

    def get(self, key: str) -> bytes | None:
        value: bytes | None = self.line.ask("get", key)
        return value

    def put(self, key: str, value: bytes) -> None:
        self.line.ask("put", key, value)


def read(line: Line, files: HubFiles, question: Headed, token: str | None, seconds: float) -> tuple[bytes, bytes]:
    """The report with the headers, and the headers as a page shows them. What a token opens is not kept."""
    model, target, mode = model_of(files), question.target, question.mode
    budget = headers.usual_budget(mode, seconds)
    done = _Done()
    with _telling(line, budget, done):
        model = headers.with_headers(
            model,
            mode,
            (target,),
            token=token or False,
            store=None if token else Kept(line=line),
            progress=done.now,
            budget=budget,
        )
        assert model.headers is not None
        done.state = "checking"
        report = put_aside(checked(model, target), question.ignore)
    return body_of(report, model), json.dumps(stored(model.headers, mode, report), separators=(",", ":")).encode()


class _Done:
    """What is done, and how many of how many files were read."""

    def __init__(self) -> None:
        self.state = "reading"
        self.files = 0
        self.of: int | None = None

    def now(self, files: int, of: int) -> None:
        self.files, self.of = files, of


@contextmanager
def _telling(line: Line, budget: Budget, done: _Done) -> Iterator[None]:
    """Says now and then how far it is."""
    over = threading.Event()

    def tell() -> None:
        while not over.wait(_TOLD_EVERY):
            line.say("progress", done.state, done.files, done.of, budget.received)

    line.say("progress", "reading", 0, None, 0)
    threading.Thread(target=tell, name="fse-progress", daemon=True).start()
    try:
        yield
    finally:
        over.set()
        line.say("progress", done.state, done.files, done.of, budget.received)
