"""Problems as pages: what happened in plain words, and what to do about it."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from service.pages.base import answer, html
from service.problems import KINDS, Problem

_ADVICE: Final[Mapping[str, tuple[str, str]]] = {
    "not-found": (
        "There is nothing here",
        "Check the spelling: a model's name is organization/name, as its page on the Hub shows it. A private model "
        "cannot be seen from here; use the command line or the API with your own token.",
    ),
    "revision-not-found": ("No such revision", "Check the branch, tag or commit, or leave it out for the main branch."),
    "config-not-found": (
        "The repository has no config.json",
        "Only models in the transformers format can be read. Quantized GGUF files and adapters have no such config; "
        "look for the model that they were made from.",
    ),
    "gated": (
        "This model is gated",
        "Its owner decides who reads it. Ask for access on the model's page, then use the command line or the API "
        "with your own token; or paste its config.json into the playground.",
    ),
    "too-large": ("That is too large", "A config.json has some kilobytes. Check that you pasted the right file."),
    "timeout": ("That took too long", "Send it again."),
    "invalid-input": ("That cannot be read", "Correct the place that is named above, and try again."),
    "unreadable-config": (
        "The model's config cannot be read",
        "The repository holds a config.json that is not what vLLM expects. Its owner can correct it.",
    ),
    "rate-limited": ("Too many requests", "Wait a moment, then reload the page."),
    "upstream-rate-limited": (
        "The Hub asks us to slow down",
        "Wait a moment, then reload the page. A model that was looked at before is shown all the same, and so are the "
        "shipped examples.",
    ),
    "upstream-broken": (
        "The Hub gave no usable answer",
        "Most often this passes by itself: reload the page in a minute.",
    ),
    "upstream-unavailable": (
        "The Hub cannot be reached",
        "Nothing is known about this model from before. Try again later, look at the shipped examples, or paste the "
        "model's config.json into the playground.",
    ),
    "too-slow": (
        "That takes too long to check",
        "Try again when the service is less busy, or use the command line on your own machine.",
    ),
    "busy": ("The service is busy", "Wait a moment, then reload the page."),
    "not-ready": ("The service is starting or stopping", "Reload the page in a moment."),
    "method-not-allowed": ("That is not how this page is used", "Go back and use the form."),
    "unsupported-media-type": ("That is not how this page is used", "Go back and use the form."),
    "internal-error": ("Something went wrong on our side", "It has been logged. Reload the page, or try again later."),
}


def _sentence(detail: str) -> str:
    """`detail` as a sentence; a name that it starts with stays as it is."""
    first = detail.partition(" ")[0]
    start = detail if "/" in first or ":" in first else detail[:1].upper() + detail[1:]
    return start if start.endswith((".", "!", "?")) else f"{start}."


def error_page(request: Request, problem: Problem, model: str = "") -> Response:
    """The page for `problem`. `model` is the one that was asked for, where one was."""
    title, advice = _ADVICE.get(problem.name, (KINDS[problem.name].title, KINDS[problem.name].meaning))
    hub = f"https://huggingface.co/{quote(model)}" if model and problem.name in ("gated", "config-not-found") else None
    context = {
        "title": title,
        "advice": advice,
        "problem": problem,
        "detail": _sentence(problem.detail),
        "model": model,
        "hub": hub,
    }
    return answer(html(request, "error.html", context), problem.status, problem.headers())
