"""The form that says how a model is served, and the address that reproduces what it gave."""

import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from fse_core import releases
from fse_core.target import Target
from service import targets

Pairs = list[tuple[str, str]]

GPUS: Final[Mapping[str, str]] = {
    "gfx942": "MI300X, MI325X",
    "gfx950": "MI350X, MI355X",
    "gfx1250": "",
    "gfx90a": "MI200 series",
}
"""What the form offers; an address may name any other."""

_ALWAYS: Final = ("vllm", "gfx", "tp")
"""What an address always names, so that it means the same when a default has changed."""


def pairs(target: Target, prefix: str = "") -> Pairs:
    """The query that means this target."""
    told, usual = target.as_dict(), targets.from_query([]).as_dict()
    return [
        (f"{prefix}{name}", text)
        for name in (parameter.name for parameter in targets.PARAMETERS)
        if name in _ALWAYS or told[name] != usual[name]
        for text in _texts(name, told[name])
    ]


def _texts(name: str, value: Any) -> Iterator[str]:
    if name == "env":
        yield from (f"{key}={text}" for key, text in value.items())
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif value is not None:
        yield json.dumps(value) if isinstance(value, dict) else str(value)


def cleaned(given: Iterable[tuple[str, str]]) -> Pairs:
    """What a form sent, without what was left empty or as it is, each line of its environment on its own."""
    given = list(given)
    for_both = {name for name, _ in given}
    usual, found = _usual(), []
    for name, text in given:
        side, _, bare = name.rpartition(".")
        lines = [line.strip() for line in (text.splitlines() if bare == "env" else [text])]
        # What holds for both sides of a comparison may have to be taken back for one.
        kept = side and bare in for_both
        found += [(name, line) for line in lines if line and (kept or usual.get(bare) != line)]
    return found


@functools.cache
def _usual() -> Mapping[str, str]:
    """The text of each parameter that an address need not name, where nothing else is said."""
    told = targets.from_query([]).as_dict()
    texts = ((name, value) for name, value in told.items() if name not in (*_ALWAYS, "env"))
    return {"revision": "main", **{name: text for name, value in texts for text in _texts(name, value)}}


def values(target: Target, prefix: str = "") -> dict[str, Any]:
    """What the form shows."""
    overlay = "" if target.overlay is None else json.dumps(target.overlay)
    gpus = dict(GPUS) if target.gfx in GPUS else {target.gfx: "", **GPUS}
    release = releases.load(target.vllm)
    shown = {
        "prefix": prefix,
        "releases": list(reversed(releases.known())),
        "gpus": gpus,
        "moe_backends": release.choices.get("moe_backend", ()),
        "all2all_backends": release.choices.get("all2all_backend", ()),
        "env": "\n".join(_texts("env", target.environment)),
        "quantization_config": overlay,
        "more": pairs(target) != pairs(Target(vllm=target.vllm, gfx=target.gfx, tp=target.tp, ep=target.ep)),
    }
    return {**target.as_dict(), **shown}


def link(path: str, *parts: Iterable[tuple[str, str]]) -> str:
    """An address with a query."""
    query = urlencode([pair for part in parts for pair in part])
    return f"{path}?{query}" if query else path
