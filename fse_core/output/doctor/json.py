"""`json`: the `fse.doctor/1` object for programs."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fse_core.doctor.result import Diagnosis, LogReport
from fse_core.output import Format, Style
from fse_core.output.json import report_to_dict
from fse_core.version import __version__

SCHEMA = "fse.doctor/1"


def diagnosis_to_dict(found: Diagnosis) -> dict[str, Any]:
    """The `fse.doctor/1` object."""
    return {
        "schema": SCHEMA,
        "engine": __version__,
        "machine": {
            "versions": dict(found.machine.versions),
            "gpus": list(found.machine.gpus),
            "plugin": {"state": found.machine.plugin, "reason": found.machine.plugin_reason},
        },
        "vllm": {"version": found.vllm, "from": found.vllm_from},
        "gfx": {"name": found.gfx, "from": found.gfx_from},
        "variables": [asdict(one) for one in found.variables],
        "launch": None if found.launch is None else asdict(found.launch),
        "problems": [asdict(one) for one in found.problems],
        "report": None if found.report is None else report_to_dict(found.report),
        "unread": found.unread,
        "log": None if found.log is None else _log(found.log),
    }


def _log(log: LogReport) -> dict[str, Any]:
    return asdict(log)


def _render(found: Sequence[Diagnosis], style: Style) -> str:
    objects = [diagnosis_to_dict(one) for one in found]
    return json.dumps(objects[0] if len(objects) == 1 else objects, indent=2, ensure_ascii=True) + "\n"


FORMAT: Format[Diagnosis] = Format(summary="fse.doctor/1 for programs", render=_render)
