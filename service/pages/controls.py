"""The form that says how a model is served, and the address that reproduces what it gave."""

import functools
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
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

_LINE_END: Final = re.compile(r"\r\n?|\n")


def cleaned(given: Iterable[tuple[str, str]]) -> Pairs:
    """What a form sent, without what was left empty or as it is, each line of its environment on its own.

    What means something stays: a variable's spaces, and a parameter that is given twice, which is then refused.
    """
    given = list(given)
    times = Counter(name for name, _ in given)
    usual, found = _usual(), []
    for name, text in given:
        side, _, bare = name.rpartition(".")
        if bare == "env":
            found += [(name, line) for line in _LINE_END.split(text) if line.strip()]
            continue
        word = text.strip()
        # What holds for both sides of a comparison may have to be taken back for one.
        told = usual.get(bare) != word or (side and times[bare])
        if times[name] > 1 or (word and told):
            found.append((name, word))
    return found


@functools.cache
def _usual() -> Mapping[str, str]:
    """The text of each parameter that an address need not name, where nothing else is said."""
    told = ((name, value) for name, value in targets.usual().items() if name not in targets.ALWAYS)
    return {"headers": "none", **{name: text for name, value in told for text in targets.texts(name, value)}}


def values(target: Target, prefix: str = "") -> dict[str, Any]:
    """What the form shows."""
    overlay = "" if target.overlay is None else json.dumps(target.overlay)
    gpus = dict(GPUS) if target.gfx in GPUS else {target.gfx: "", **GPUS}
    release = releases.load(target.vllm)
    shown = {
        "prefix": prefix,
        "releases": offered(target.vllm),
        "gpus": gpus,
        "moe_backends": release.choices.get("moe_backend", ()),
        "all2all_backends": release.choices.get("all2all_backend", ()),
        "env": "\n".join(targets.texts("env", target.environment)),
        "quantization_config": overlay,
        "more": target != Target(vllm=target.vllm, gfx=target.gfx, tp=target.tp, ep=target.ep),
    }
    return {**target.as_dict(), **shown}


def offered(vllm: str) -> list[str]:
    """All known releases, the newest first, and the one that is chosen where it is none of them."""
    known = list(reversed(releases.known()))
    return known if vllm in known else [vllm, *known]


def link(path: str, *parts: Iterable[tuple[str, str]]) -> str:
    """An address with a query."""
    query = urlencode([pair for part in parts for pair in part])
    return f"{path}?{query}" if query else path
