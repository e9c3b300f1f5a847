"""The plan for what vLLM is about to build; where there is none, a line says why."""

from fse_core.errors import FseError
from fse_core.pipeline import examined
from fse_core.plugged.judge import planned
from fse_core.plugged.options import Options
from fse_core.plugged.plan import Plan
from fse_core.vllm_plugin import log
from fse_core.vllm_plugin.subject import Subject

_PATIENCE = 600.0
"""Seconds. All ranks must come to the same plan, and machines are busy while vLLM starts."""


def plan(subject: Subject, options: Options, *, can_quantize: bool) -> Plan | None:
    """The plan, None where nothing is known of this model: then the release decides alone."""
    try:
        report, facts = examined(subject.model, subject.target, patience=_PATIENCE)
        if report.undecided_reason is not None:
            log.info("not judged, so that vLLM decides alone: %s", report.undecided_reason)
            return None
        part = next((part for part in facts.parts if part.part.part == subject.part and part.layers), None)
        if part is None:
            return None
        made = planned(report, facts, part, options, can_quantize=can_quantize)
    except FseError as error:
        log.line("not judged, so that vLLM decides alone: %s", error)
        return None
    for note in () if made is None else made.notes:
        log.line("%s", note)
    return made
