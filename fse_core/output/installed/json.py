"""`json`: the `fse.installed/1` object for programs."""

import json
from collections.abc import Sequence
from typing import Any

from fse_core.output import Format, Style
from fse_core.releases.installed import Installed
from fse_core.version import __version__

SCHEMA = "fse.installed/1"


def installed_to_dict(found: Installed) -> dict[str, Any]:
    """The `fse.installed/1` object."""
    return {
        "schema": SCHEMA,
        "engine": __version__,
        "folder": found.folder,
        "version": found.version,
        "kind": found.kind,
        "releases": list(found.releases),
        "compared": found.compared,
        "differing": [{"function": name, "absent": name in found.absent} for name in found.differing],
    }


def _render(installations: Sequence[Installed], style: Style) -> str:
    objects = [installed_to_dict(found) for found in installations]
    return json.dumps(objects[0] if len(objects) == 1 else objects, indent=2, ensure_ascii=True) + "\n"


FORMAT: Format[Installed] = Format(summary="fse.installed/1 for programs", render=_render)
