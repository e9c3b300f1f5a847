"""The targets of the settings: the command line's options of the same names, as TOML."""

import re
from collections.abc import Mapping
from typing import Any, Final

from fse_core.read.getters import shown
from fse_core.settings.table import Table

_SIZES: Final = ("tp", "dp", "pcp", "pp")
_SWITCHES: Final = ("ep", "eplb", "dbo", "plugin", "draft")
_WORDS: Final = ("vllm", "gfx", "moe-backend", "all2all-backend")
_TABLES: Final[Mapping[str, str]] = {"env": "environment", "quantization-config": "overlay"}
KEYS: Final = (*_WORDS, *_SIZES, *_SWITCHES, *_TABLES)
_LARGEST: Final = 65536
_GFX: Final = re.compile(r"gfx[0-9a-f]{3,4}")


def target(table: Table) -> dict[str, Any]:
    """The fields of a Target that the table states."""
    table.only(KEYS)
    found: dict[str, Any] = {}
    for key in _WORDS:
        if table.get(key, str) is not None:
            found[key.replace("-", "_")] = table.text(key)
    found.update((key, _size(table, key)) for key in _SIZES if key in table.data)
    found.update((key, table.get(key, bool)) for key in _SWITCHES if key in table.data)
    found.update((field, dict(table.get(key, dict))) for key, field in _TABLES.items() if key in table.data)
    if "gfx" in found and not _GFX.fullmatch(found["gfx"]):
        raise table.error("gfx", f"expected an AMD GPU architecture such as gfx942, got {shown(found['gfx'])}")
    if "moe_backend" in found:  # as vLLM reads it: config/kernel.py at 0.33.0
        found["moe_backend"] = found["moe_backend"].lower().replace("-", "_")
    for name, value in found.get("environment", {}).items():
        if not isinstance(value, str):
            raise table.error("env", f"{name}: expected a string, got {shown(value)}")
    return found


def _size(table: Table, key: str) -> int:
    value: int = table.get(key, int)
    if not 1 <= value <= _LARGEST:
        raise table.error(key, f"expected a number of GPUs from 1 to {_LARGEST}, got {value}")
    return value
