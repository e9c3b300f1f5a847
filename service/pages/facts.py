"""What the pages ask the service for: reports of models and of shipped models, and the facts behind them."""

from typing import Any, Final

from starlette.requests import Request

from fse_core.read.document import parse_object
from fse_core.read.model import CONFIG_FILE, HF_QUANT_FILE, Document, Model
from fse_core.report import Report
from fse_core.target import Target
from service import state
from service.apart import apart
from service.api import inputs
from service.examples import Example
from service.problems import Problem
from service.questions import Headed, Question
from service.readings import Reading
from service.reports import Reports, Served

_GLANCE: Final = 0.2
"""Seconds that a page waits for headers: as long as it takes where they are kept already."""


def _reports(request: Request) -> Reports:
    return state.of(request)["reports"]


def examples(request: Request) -> list[Example]:
    """The shipped models, by name."""
    return list(state.of(request)["examples"].values())


def shipped(request: Request, name: str) -> Example:
    """The shipped model of that name. Problem where there is none."""
    example = state.of(request)["examples"].get(name)
    if example is None:
        raise Problem("not-found", f"no shipped model is named {name}")
    return example


async def example(request: Request, name: str, target: Target) -> Served:
    """The report for a shipped model."""
    return await _reports(request).example(name, target)


async def headed(request: Request, name: str, revision: str, question: Headed) -> Served | Reading | Problem:
    """The report by the headers, their reading where that is still under way, or why they cannot be had."""
    try:
        with inputs.fetching(name, revision):
            found = await _reports(request).headed(name, revision, question)
            if isinstance(found, Served):
                return found
            found.reading.look()
            return await found.wait(_GLANCE) or found.reading
    except Problem as problem:
        return problem


async def answer(request: Request, name: str, revision: str, question: Question, *, shipped: bool) -> Served:
    """The answer to any question about a shipped model or one on the Hub. Problem where it cannot be had."""
    if shipped:
        return await _reports(request).shipped(name, question)
    with inputs.fetching(name, revision):
        return await _reports(request).answer(name, revision, question)


async def model_of(request: Request, served: Served) -> Model | None:
    """The facts behind a report, None where they are not at hand."""
    return await _reports(request).model(served)


async def pasted(request: Request, config: str, hf_quant_config: str, target: Target) -> tuple[Model, Report]:
    """The report for documents that somebody pasted. InputError, with the place, where they cannot be read."""
    parsed = await _parsed(config, CONFIG_FILE)
    quant = await _parsed(hf_quant_config, HF_QUANT_FILE) if hf_quant_config.strip() else None
    documents = [Document(file=CONFIG_FILE, name="", data=_encoded(config))]
    if quant is not None:
        documents.append(Document(file=HF_QUANT_FILE, name=f"{HF_QUANT_FILE}:", data=_encoded(hf_quant_config)))
    return await _reports(request).for_config(parsed, quant, target, tuple(documents))


async def _parsed(text: str, name: str) -> dict[str, Any]:
    return await apart(len(text), lambda: parse_object(_encoded(text), name))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
