"""Makes a case that differs smaller, as long as it still differs."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

from conformance.case import Case

Raw = dict[str, Any]
Path = tuple[str | int, ...]
PARTS = ("target", "hf_quant_config", "config")


def shrunk(case: Case, differs: Callable[[Case], bool], tries: int = 120) -> Case:
    """The smallest case found with that many questions."""
    raw = case.as_dict()
    while tries > 0:
        for smaller in _smaller(raw):
            tries -= 1
            if differs(Case.from_dict(smaller)):
                raw = smaller
                break
            if tries <= 0:
                break
        else:
            break
    return Case.from_dict(raw)


def _smaller(raw: Raw) -> Iterator[Raw]:
    """Copies with one thing less: whole objects and lists first, then what is in them."""
    for path in sorted(_paths(raw), key=len):
        smaller = copy.deepcopy(raw)
        owner: Any = smaller
        for key in path[:-1]:
            owner = owner[key]
        del owner[path[-1]]
        yield smaller


def _paths(raw: Raw) -> Iterator[Path]:
    """What may be left out: the target's options and the quantization blocks' entries, never the model's shape."""
    for part in PARTS:
        if part in raw:
            yield from _below(raw[part], (part,), inside=part != "config")


def _below(value: Any, path: Path, *, inside: bool) -> Iterator[Path]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        deeper = inside or key in ("quantization_config", "compression_config")
        if deeper:
            yield (*path, key)
        yield from _below(inner, (*path, key), inside=deeper)
