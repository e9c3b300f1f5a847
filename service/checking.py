"""Checks as the service makes them. Knows of nothing but the core, so that a process for them starts quickly."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from fse_core import check
from fse_core.errors import OutOfTime
from fse_core.located import located
from fse_core.output.json import report_to_dict
from fse_core.policy import Checked, Policy
from fse_core.read.model import Document, Model
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


def put_aside(report: Report, ignore: Iterable[str]) -> Report:
    """The report with the findings of these rules among what is ignored. What the release does stays what it is."""
    policy = Policy(ignore=frozenset(ignore))
    return policy.applied([Checked(report=report)])[0] if policy.ignore else report


def body_of(report: Report, model: Model) -> bytes:
    """The `fse.report/1` object as the service sends it, with the places of its evidence where files were read."""
    # ASCII alone: a name in the config may hold what UTF-8 cannot.
    return json.dumps(report_to_dict(located(report, model)), separators=(",", ":"), ensure_ascii=True).encode()


def config_report(
    config: Facts, hf_quant_config: Facts | None, target: Target, documents: tuple[Document, ...] = ()
) -> tuple[Model, Report]:
    """The model that a config describes which a caller sent, and its report; `documents` are its texts, if at hand."""
    model = replace(model_from_dict(config, hf_quant_config), documents=documents)
    return model, located(checked(model, target), model)


def config_body(config: Facts, hf_quant_config: Facts | None, target: Target) -> bytes:
    """The same, as it is sent."""
    model, report = config_report(config, hf_quant_config, target)
    return body_of(report, model)
