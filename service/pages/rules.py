"""What each finding means: an index, and a page for each rule, of the same text as `fse explain`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from fse_core.rules.texts import texts
from fse_core.ruletext import RuleText
from service.api.rules import known
from service.pages.base import html, kept
from service.pages.errors import error_page
from service.pages.findings import SEVERITIES
from service.problems import Problem

router = APIRouter()


@dataclass(frozen=True, kw_only=True)
class Block:
    """A paragraph, a list, or what is to be shown as it stands."""

    kind: Literal["words", "list", "exact"]
    lines: tuple[str, ...]


@router.get("/rules")
async def index(request: Request) -> Response:
    """All rules, by id."""

    async def make() -> bytes:
        return html(request, "rules.html", {"listed": texts(), "states": SEVERITIES})

    return await kept(request, "rules", make)


@router.get("/rules/{id}")
async def rule(request: Request, id: str) -> Response:
    """One rule in full."""
    try:
        found = known(id)
    except Problem as problem:
        return error_page(request, problem)
    if found.id != id:
        return RedirectResponse(f"/rules/{found.id}", 303)

    async def make() -> bytes:
        every = texts()
        place = every.index(found)
        context = {
            "rule": found,
            "blocks": list(blocks(found)),
            "state": SEVERITIES[found.severity],
            "before": every[place - 1] if place else None,
            "after": every[place + 1] if place + 1 < len(every) else None,
        }
        return html(request, "rule.html", context)

    return await kept(request, "rule", make)


def blocks(found: RuleText) -> Iterator[Block]:
    """The rule's text below its first sentence."""
    for paragraph in found.paragraphs[1:]:
        lines = paragraph.split("\n")
        if all(line.startswith(("- ", "* ", "  ")) for line in lines) and lines[0].startswith(("- ", "* ")):
            yield Block(kind="list", lines=tuple(_items(lines)))
        elif len(lines) > 1 or paragraph.startswith((" ", "|")):
            yield Block(kind="exact", lines=tuple(lines))
        else:
            yield Block(kind="words", lines=(paragraph,))


def _items(lines: list[str]) -> Iterator[str]:
    """Each item of a list on one line."""
    item = ""
    for line in lines:
        if line.startswith(("- ", "* ")) and item:
            yield item
            item = ""
        item = f"{item} {line.removeprefix('- ').removeprefix('* ').strip()}".strip()
    yield item
