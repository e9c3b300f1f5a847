"""What the pages ask the service for: reports of models and of shipped models, and the facts behind them."""

from dataclasses import replace

from starlette.requests import Request

from fse_core import releases
from fse_core.errors import FseError
from fse_core.read.document import parse_object
from fse_core.read.model import CONFIG_FILE, HF_QUANT_FILE, Model
from fse_core.read.source import model_from_dict
from fse_core.report import Report
from fse_core.target import Target
from service import state
from service.examples import Example
from service.problems import Problem, from_error
from service.reports import Reports, Served


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


def target_of(example: Example) -> Target:
    """What a shipped model is shown for, the release by its number: an address must mean the same tomorrow."""
    return replace(example.target, vllm=releases.load(example.target.vllm).version)


async def example(request: Request, name: str, target: Target) -> Served:
    """The report for a shipped model."""
    shipped(request, name)
    return await _reports(request).example(name, target)


async def on_hub(request: Request, name: str, revision: str, target: Target) -> Served:
    """The report for a model on the Hub. Problem where it cannot be had."""
    try:
        return await _reports(request).for_model(name, revision, target)
    except FseError as error:
        raise from_error(error, name, revision) from None


async def anywhere(request: Request, name: str, revision: str, target: Target) -> Served:
    """As `on_hub`; for a name that is only among the shipped models, that one."""
    known = state.of(request)["examples"].get(name)
    if known is not None and known.made_up:
        return await _reports(request).example(name, target)
    return await on_hub(request, name, revision, target)


async def model_of(request: Request, served: Served) -> Model | None:
    """The facts behind a report, None where they are not at hand."""
    return await _reports(request).model(served)


async def pasted(request: Request, config: str, hf_quant_config: str, target: Target) -> tuple[Model, Report]:
    """The report for documents that somebody pasted. InputError, with the place, where they cannot be read."""
    parsed = parse_object(config.encode("utf-8", "surrogatepass"), CONFIG_FILE)
    quant = parse_object(hf_quant_config.encode(), HF_QUANT_FILE) if hf_quant_config.strip() else None
    report = await _reports(request).for_config(parsed, quant, target)
    return model_from_dict(parsed, quant), report
