"""Checks as the service makes them. Knows of nothing but the core, so that a process for them starts quickly."""

import json
from collections.abc import Mapping
from typing import Any

from fse_core import check
from fse_core.errors import OutOfTime
from fse_core.output.json import report_to_dict
from fse_core.read.model import Model
from fse_core.read.source import model_from_dict
from fse_core.report import Report
from fse_core.target import Target

Facts = Mapping[str, Any]


def checked(model: Model, target: Target) -> Report:
    """The report. One that was given up for lack of time is no answer: it would be kept as if it were."""
    report = check(model, target)
    if report.out_of_time:
        raise OutOfTime(str(report.undecided_reason))
    return report


def body_of(report: Report) -> bytes:
    """The `fse.report/1` object as the service sends it."""
    # ASCII alone: a name in the config may hold what UTF-8 cannot.
    return json.dumps(report_to_dict(report), separators=(",", ":"), ensure_ascii=True).encode()


def config_report(config: Facts, hf_quant_config: Facts | None, target: Target) -> tuple[Model, Report]:
    """The model that a config describes which a caller sent, and its report."""
    model = model_from_dict(config, hf_quant_config)
    return model, checked(model, target)


def config_body(config: Facts, hf_quant_config: Facts | None, target: Target) -> bytes:
    """The same, as it is sent."""
    return body_of(checked(model_from_dict(config, hf_quant_config), target))
