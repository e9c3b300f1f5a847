"""The quantization block with the shared experts made alike, as text: nothing but its entries changes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from fse_core.convert.dialects import Dialect, Modules
from fse_core.convert.jsontext import Item, items, locate, own, rewritten
from fse_core.read.model import CONFIG_FILE, HF_QUANT_FILE, TEXT_KEYS

_BLOCKS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    CONFIG_FILE: (
        ("quantization_config",),
        ("compression_config",),
        *((key, "quantization_config") for key in TEXT_KEYS),
    ),
    HF_QUANT_FILE: ((),),
}
"""Where a file may hold a block. All are changed alike: releases differ in which one they read."""
_LAYERS: Final = "layer_quant_config"


def patched(name: str, text: str, dialect: Dialect, modules: Modules, routed: Mapping[str, str]) -> str:
    """The file's text with every block in it changed. `routed` leads from a shared module to its layer's experts."""
    for path in _BLOCKS[name]:
        for inner in (path, (*path, "quantization")):
            for key in dialect.keys:
                text = _list(text, (*inner, key), dialect, modules)
        text = _layer_schemes(text, path, modules, routed)
    return text


def _list(text: str, path: Sequence[str], dialect: Dialect, modules: Modules) -> str:
    start = locate(text, path)
    if start is None or text[start] != "[":
        return text
    found = items(text, start)
    entries = [item.value for item in found]
    if not all(isinstance(entry, str) for entry in entries):
        return text
    changed = dict(zip((item.start for item in found), dialect.changed(entries, modules), strict=True))

    def change(item: Item) -> Sequence[str]:
        new = changed[item.start]
        return own(text, item) if list(new) == [item.value] else [json.dumps(entry) for entry in new]

    return rewritten(text, start, change)


def _layer_schemes(text: str, path: Sequence[str], modules: Modules, routed: Mapping[str, str]) -> str:
    """Quark's exceptions by name, so that a shared expert has its routed experts' scheme.

    An exception that is for converted modules alone goes; one that others have, too, gets another before it, since the
    first that matches counts.
    """
    start, everyone = locate(text, (*path, _LAYERS)), locate(text, (*path, "global_quant_config"))
    if start is None or text[start] != "{":
        return text
    default = None if everyone is None else json.JSONDecoder().raw_decode(text, everyone)[0]
    schemes = items(text, start)
    gone: set[int] = set()
    before: dict[str, str] = {}
    for module, experts in routed.items():
        like = _scheme(schemes, modules.forms(experts))
        wanted = default if like is None else like.value
        while True:
            got = _scheme((item for item in schemes if item.start not in gone), modules.forms(module))
            if (default if got is None else got.value) == wanted:
                break
            if got is None or _others(got, modules):
                before[_pattern(module)] = json.dumps(wanted)
                break
            gone.add(got.start)
    if not gone and not before:
        return text
    first = [f"{json.dumps(key)}: {value}" for key, value in before.items()]
    return rewritten(text, start, lambda item: () if item.start in gone else own(text, item), first)


def _pattern(module: str) -> str:
    """What an exception calls the shared expert of every layer: `*.mlp.shared_experts.*`."""
    moe, shared, _ = module.rsplit(".", 2)
    return f"*.{moe.rpartition('.')[2]}.{shared}.*"


def _scheme(schemes: Iterable[Item], forms: Sequence[str]) -> Item | None:
    """The first exception that is for a module (quark.py:724 at 0.33.0)."""
    return next((item for item in schemes if any(_is_for(item, form) for form in forms)), None)


def _is_for(item: Item, name: str) -> bool:
    key: Any = item.key
    return fnmatchcase(name, key) if "*" in key else name in key


def _others(item: Item, modules: Modules) -> bool:
    return any(_is_for(item, form) for module in modules.full for form in modules.forms(module))
