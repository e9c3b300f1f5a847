"""Puts a diagnosis together: machine, variables, launch command, and what the release makes of the model."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fse_core import releases
from fse_core.doctor.command import Command
from fse_core.doctor.log.conclude import conclude
from fse_core.doctor.log.tally import Tally
from fse_core.doctor.machine import allowed
from fse_core.doctor.result import Diagnosis, Machine, Origin, Problem, Variable
from fse_core.doctor.served import Served, logged, served
from fse_core.errors import FseError, InputError
from fse_core.plugged.options import ACCEPT, FUSION, ONLINE, PLUGIN
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.report import Report
from fse_core.target import REQUESTED_ENVIRONMENT, Target

AITER, AITER_MOE = "VLLM_ROCM_USE_AITER", "VLLM_ROCM_USE_AITER_MOE"
ALSO = ("VLLM_PLUGINS", PLUGIN, ONLINE, ACCEPT)
GFX = "gfx942"
"""What is taken where neither an option nor a GPU says more."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked. Everything that was given wins over what is found.

    environment: this process's; given: what --env says; read: gives the model that a name stands for.
    """

    machine: Machine
    read: Callable[[str], Model]
    environment: Mapping[str, str]
    given: Mapping[str, str] = field(default_factory=dict)
    vllm: str | None = None
    gfx: str | None = None
    source: str | None = None
    target: Mapping[str, Any] = field(default_factory=dict)


def examine(question: Question, command: Command | None, tally: Tally | None = None, file: str = "") -> Diagnosis:
    """The diagnosis of a launch command, or of the model that `question.source` names, or of the machine alone.

    With `tally`, of the log called `file`, also of that; what was served is then what the log says, unless it is given.
    InputError where the release that is asked for is none that can be answered for.
    """
    logged_facts = tally.facts if tally is not None else {}
    vllm, vllm_from = _release(question, command, logged_facts.get("version"))
    release = releases.load(vllm)
    gfx, gfx_from = _gfx(question)
    assumed = REQUESTED_ENVIRONMENT if tally is not None and command is None else {}
    variables = {one.name: one for one in _variables(question, command, release, assumed)}
    environment = {name: one.value for name, one in variables.items() if one.value is not None}
    plugin = _has_plugin(question, command, tally, environment)
    asks = (PLUGIN, ONLINE, ACCEPT) if plugin else ()
    environment = {name: environment.get(name, "0") for name in (AITER, AITER_MOE, FUSION)} | {
        name: value for name, value in environment.items() if name in asks or name not in ALSO
    }
    served_as = {"draft": True, **question.target, "vllm": vllm, "gfx": gfx, "plugin": plugin}
    target = Target(**{**served_as, "environment": environment})
    asked = _asked(question, command, logged_facts, target)
    report, unread = _report(question, asked, target)
    return Diagnosis(
        machine=question.machine,
        vllm=vllm,
        vllm_from=vllm_from,
        gfx=gfx,
        gfx_from=gfx_from,
        variables=tuple(variables.values()),
        launch=None if asked is None else asked.launch,
        report=report,
        unread=unread,
        log=None if tally is None else conclude(tally, report, file, release.version),
        problems=(*_problems(question, release.version, vllm), *_of_file(tally)),
    )


def _has_plugin(
    question: Question, command: Command | None, tally: Tally | None, environment: Mapping[str, str]
) -> bool:
    """Whether vLLM finds the plugin: as the log shows, else as it is installed here for what is started here."""
    if question.target.get("plugin"):
        return True
    if tally is not None:
        return tally.stated is not None
    installed = question.machine.plugin != "absent" and (command is None or not command.inside)
    return installed and allowed(environment)


def _asked(
    question: Question, command: Command | None, logged_facts: Mapping[str, str], target: Target
) -> Served | None:
    """What is served: by the command, or by what the log says of itself. Options that are given say otherwise."""
    if command is not None:
        return served(command, target)
    if question.target.keys() - {"plugin"} or "arguments" not in logged_facts:
        return None
    return logged(logged_facts["arguments"], target)


def _release(question: Question, command: Command | None, in_log: str | None) -> tuple[str, str]:
    """Which release, and how that is known."""
    installed = question.machine.versions.get("vllm")
    for version, source in (
        (question.vllm, "option"),
        (command.version if command is not None else None, "image"),
        (in_log, "log"),
        (installed, "installed"),
    ):
        if version is not None and (source == "option" or _is_version(version)):
            return releases.parsed(version).name if source == "log" else version, source
    return releases.known()[-1], "assumed"


def _is_version(text: str) -> bool:
    """Whether a release answers for it."""
    try:
        releases.resolve(text)
    except InputError:
        return False
    return True


def _gfx(question: Question) -> tuple[str, str]:
    if question.gfx is not None:
        return question.gfx, "option"
    if question.machine.gpus:
        return question.machine.gpus[0], "driver"
    return GFX, "assumed"


def _variables(
    question: Question, command: Command | None, release: releases.Release, assumed: Mapping[str, str]
) -> list[Variable]:
    """Those that bear on fusion in this release, and what the process would see of each."""
    inside = command is not None and command.inside
    own = dict(command.variables) if command is not None else {}
    outside = {} if assumed else question.environment
    if inside:
        passed = command.passed if command is not None else ()
        outside = {name: outside[name] for name in passed if name in outside}
    if command is not None:
        outside = {name: value for name, value in outside.items() if name not in command.removed}
    found = []
    for name in dict.fromkeys((AITER, AITER_MOE, FUSION, *release.environment, *ALSO)):
        sources: tuple[tuple[Mapping[str, str], Origin], ...] = (
            (question.given, "option"),
            (own, "command"),
            (assumed, "assumed"),
            (outside, "environment"),
            (release.environment, "default"),
        )
        first = next(((known, by) for known, by in sources if name in known), None)
        value = None if first is None else first[0][name]
        found.append(Variable(name=name, value=value, origin="default" if first is None else first[1]))
    return found


def _problems(question: Question, answering: str, vllm: str) -> list[Problem]:
    problems = []
    if not releases.is_known(vllm):
        what = f"vLLM {vllm} is not one of the known releases; {answering} answers for it"
        problems.append(Problem(severity="warning", message=what))
    if len(set(question.machine.gpus)) > 1:
        kinds = ", ".join(sorted(set(question.machine.gpus)))
        problems.append(Problem(severity="warning", message=f"the GPUs are of several kinds: {kinds}"))
    return problems


def _of_file(tally: Tally | None) -> Iterator[Problem]:
    if tally is None:
        return
    if tally.broken:
        what = "the compressed log ends too early or is damaged: only what comes before that is read"
        yield Problem(severity="warning", message=what)
    again = [places for (kind, _), places in tally.starts.items() if kind == "arguments" and len(places) > 1]
    for places in again:
        where = f"first at byte {places[0]} and last at {places[-1]}"
        what = f"the same server starts {len(places)} times in the log, {where}: all are counted together"
        yield Problem(severity="warning", message=what)


def _report(question: Question, asked: Served | None, target: Target) -> tuple[Report | None, str | None]:
    """What the release does with the model, or why that is not known."""
    from fse_core.check import check

    name = question.source or (asked.launch.model if asked is not None else None)
    if name is None or (asked is not None and asked.launch.model is None):
        return None, None
    if asked is not None and question.source is None:
        name = asked.config_path or name
        name = f"{name}@{asked.revision}" if asked.revision is not None and "@" not in name else name
    try:
        model = question.read(name)
        if target.plugin:
            model = _as_the_plugin_reads_it(model)
        if asked is None:
            releases.load(target.vllm).require(target)
            return check(model, target), None
        return _judged(check(_overridden(model, asked.overrides), asked.target), asked, model), None
    except FseError as error:
        return None, str(error)


def _as_the_plugin_reads_it(model: Model) -> Model:
    """With all headers of a checkpoint that is on this machine, where they can be read."""
    from fse_core.headers import with_headers

    if model.headers is not None or model.source.kind != "path" or not os.path.isdir(model.source.id):
        return model
    try:
        return with_headers(model, "full", ())
    except FseError:  # which the plugin does without as well
        return model


def _overridden(model: Model, overrides: Mapping[str, Any]) -> Model:
    """The model as --hf-overrides leaves it."""
    if not overrides:
        return model
    return replace(model, config=Fields(_merged(model.config.raw, overrides)), documents=())


def _merged(config: Mapping[str, Any], updates: Mapping[str, Any]) -> dict[str, Any]:
    """Nested objects are updated in place, everything else is replaced (config/model.py:560 at 0.33.0)."""
    whole = dict(config)
    for key, value in updates.items():
        known = whole.get(key)
        nested = isinstance(value, Mapping) and isinstance(known, Mapping)
        whole[key] = _merged(known, value) if nested else value  # type: ignore[arg-type]
    return whole


def _judged(report: Report, asked: Served, model: Model) -> Report:
    """The report, undecided where an option leads where this version of fse does not follow."""
    reason = asked.unjudged or _quantized_otherwise(asked, model)
    if reason is None:
        return report
    return replace(report, verdict="undecided", undecided_reason=reason, layers=(), findings=(), startup_error=None)


def _quantized_otherwise(asked: Served, model: Model) -> str | None:
    """Why --quantization makes of the model something else than its own config says."""
    if asked.quantization is None:
        return None
    try:
        block = model.quantization
        own = None if block is None else block.fields.get("quant_method")
    except InputError:
        return None
    if isinstance(own, str) and _same(own, asked.quantization):
        return None
    of = "an unquantized checkpoint" if block is None else f"a checkpoint whose config says {own}"
    return f"--quantization {asked.quantization} on {of}: what the release makes of that is not known to this fse"


def _same(own: str, given: str) -> bool:
    """Whether the option names the checkpoint's own method, also by the name that vLLM gives it in the end."""
    own, given = (name.lower().replace("_", "-") for name in (own, given))
    return given in (own, f"auto-{own}", f"{own}-fp4", f"{own}-mxfp8") or own.startswith(f"{given}-")
