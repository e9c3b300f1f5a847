"""`json`: the `fse.ask/1` object for programs."""

import json
from collections.abc import Sequence
from typing import Any

from fse_core.doctor.asked import Asked
from fse_core.output import Format, Style
from fse_core.output.json import report_to_dict
from fse_core.version import __version__

SCHEMA = "fse.ask/1"


def asked_to_dict(asked: Asked) -> dict[str, Any]:
    """The `fse.ask/1` object."""
    error = asked.error
    return {
        "schema": SCHEMA,
        "engine": __version__,
        "version": asked.version,
        "pretended": asked.pretended,
        "fused": asked.fused,
        "separate": asked.separate,
        "error": None if error is None else {"type": error.type, "message": error.message},
        "compared": asked.compared,
        "agreed": asked.agreed,
        "differences": list(asked.differences),
        "report": report_to_dict(asked.report),
    }


def _render(answers: Sequence[Asked], style: Style) -> str:
    objects = [asked_to_dict(one) for one in answers]
    return json.dumps(objects[0] if len(objects) == 1 else objects, indent=2, ensure_ascii=True) + "\n"


FORMAT: Format[Asked] = Format(summary="fse.ask/1 for programs", render=_render)
