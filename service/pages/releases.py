"""What each release has: an index, and a page for each."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from fse_core import releases
from fse_core.output.words.releases import NOTHING, default_words, gpu_words, new_in
from fse_core.releases.delta import Delta
from fse_core.releases.history import Entry, history
from fse_core.releases.release import Fault, Release
from fse_core.report import RUINOUS
from service.api.releases import known
from service.pages import explain
from service.pages.base import html, kept
from service.pages.errors import error_page
from service.pages.layers import State
from service.problems import Problem

router = APIRouter()

_QUESTIONS: Final[Mapping[str, str]] = {
    "online": "shared experts that --quantization-config quantizes while they load",
    "mega_moe": "the MoE backend aiter_mega_moe, which takes the shared experts as MXFP4 alone",
    "DeepseekV4FP8Config": "DeepSeek-V4, which fuses only where Quark has made all experts MXFP4",
    "quark_mentions_shared_expert": "whether Quark's exclude list names shared experts",
    "deepseek_v4_fp4": "whether Quark has made all experts of DeepSeek-V4 MXFP4",
}
_CONSEQUENCES: Final[Mapping[str, str]] = {
    "load_fails": "loading fails",
    "silent_corruption": "silently wrong output",
    "start_fails": "the start fails",
    "not_fused": "not fused",
    "slower": "slower",
    "none": "told, not checked",
}


@dataclass(frozen=True, kw_only=True)
class Flaw:
    """A known fault as it is shown."""

    name: str
    state: State
    text: str
    classes: tuple[str, ...]
    consequence: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A release in the index."""

    version: str
    classes: int
    questions: int
    default: str
    gpus: str
    faults: int
    changes: tuple[str, ...]


@router.get("/releases")
async def index(request: Request) -> Response:
    """All releases, the newest first."""

    async def make() -> bytes:
        listed = [_summary(entry.release) for entry in reversed(history())]
        return html(request, "releases.html", {"listed": listed, "nothing": NOTHING})

    return await kept(request, "releases", make)


@router.get("/releases/{version}")
async def release(request: Request, version: str) -> Response:
    """One release in full."""
    try:
        name = known(version)
    except Problem as problem:
        return error_page(request, problem)
    if name != version:
        return RedirectResponse(f"/releases/{name}", 303)

    async def make() -> bytes:
        (entry,) = history([name])
        return html(request, "release.html", {"entry": entry, **_context(entry)})

    return await kept(request, "release", make)


def _context(entry: Entry) -> dict[str, object]:
    release, names = entry.release, releases.known()
    place = names.index(release.version)
    return {
        "release": release,
        "default": default_words(release),
        "gpus": gpu_words(release),
        "differs": [_signed(delta) for delta in new_in(entry.before, release)],
        "gate": [(name, _question(name)) for name in release.branches],
        "own": [(_question(name), sorted(classes)) for name, classes in sorted(release.own_branches.items())],
        "faults": [_flaw(name, fault) for name, fault in release.faults.items()],
        "words": list(_words(release)),
        "before": names[place - 1] if place else None,
        "after": names[place + 1] if place + 1 < len(names) else None,
        "nothing": NOTHING,
    }


def _summary(release: Release) -> Summary:
    return Summary(
        version=release.version,
        classes=len(release.wired),
        questions=len(release.branches),
        default=default_words(release),
        gpus=gpu_words(release),
        faults=len(release.faults),
        changes=release.changes,
    )


def _signed(delta: Delta) -> tuple[str, tuple[tuple[str, str], ...]]:
    signed = (("added", delta.added), ("removed", delta.removed))
    return delta.name, tuple((sign, ", ".join(names)) for sign, names in signed if names)


def _question(name: str) -> str:
    return _QUESTIONS.get(name, f"checkpoints that {name} reads")


def _flaw(name: str, fault: Fault) -> Flaw:
    likely = "" if fault.confidence == "certain" or fault.consequence == "none" else ", likely"
    return Flaw(
        name=name,
        state="breaks" if fault.consequence in RUINOUS else "separate",
        text=fault.text,
        classes=tuple(sorted(fault.classes)),
        consequence=f"{_CONSEQUENCES[fault.consequence]}{likely}",
        source=fault.source,
    )


def _words(release: Release) -> Iterator[tuple[str, str]]:
    """What the release says of shared experts, each with what it means."""
    meanings = {name: entry["because"] for section, name, entry in explain.entries() if section == "reasons"}
    for name, text in release.words.items():
        yield text, re.sub(r"\{\w+\}", "\N{HORIZONTAL ELLIPSIS}", meanings[name])
