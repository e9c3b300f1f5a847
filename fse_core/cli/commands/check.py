"""`fse check`: what a release does with every layer of a model."""

import argparse
from typing import TYPE_CHECKING, Final

from fse_core.cli import options, outputs
from fse_core.cli.commands import Command
from fse_core.cli.headers import add_headers, with_headers
from fse_core.cli.project import Project, add_settings, project
from fse_core.cli.sources import answers, folders
from fse_core.cli.statuses import BAD, NO_ANSWER, OK
from fse_core.output import Run
from fse_core.report import Report

if TYPE_CHECKING:
    from fse_core.read.model import Model

_SEVERITIES: Final = ("info", "warning", "error", "never")
_EPILOG: Final = f"""\
{options.SOURCES}
With settings that name targets (see docs/linter.md) each source is checked for each of them; options that say how the
model is served then hold for all of them.

exit status: 0 nothing wrong; 1 the model fails to start or breaks, or a finding at or above --fail-on;
2 wrong command line or settings; 3 undecided, or the source could not be had or read; 70 a bug in fse.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="file, folder, org/name[@revision] or -")
    served = parser.add_argument_group("how the model is served")
    options.add_vllm(served)
    options.add_gfx(served, default=argparse.SUPPRESS)
    options.add_target(served)
    reading = parser.add_argument_group("reading")
    options.add_reading(reading)
    add_headers(reading)
    reading.add_argument("--folder", action="store_true", help="of a file, check the folder that it is in, and once")
    rules = parser.add_argument_group("rules and settings")
    add_settings(rules)
    rules.add_argument(
        "--fail-on",
        choices=("error", "warning", "info", "never"),
        help="the least severe finding that makes the exit status 1 (default: error)",
    )
    output = parser.add_argument_group("output")
    outputs.add_outputs(output)
    options.add_color(output)


def _run(args: argparse.Namespace) -> int:
    asked = outputs.outputs(args)
    plan = project(args)
    needs = outputs.needed(asked)
    sources = folders(args.sources) if args.folder else args.sources
    unread: list[tuple[str, str]] = []
    targets = [target for _, target in plan.targets]

    def ask(model: "Model") -> list[Report]:
        return _reports(with_headers(model, args, targets, unread), plan, "places" in needs)

    answered = answers(args, sources, ask, unread)
    reports = _applied(plan, answered)
    status = max([NO_ANSWER if unread else OK, *(_status(report, plan.fail_on) for report in reports)])
    return outputs.write_all(asked, reports, args.color, lambda: _told(plan, unread)) or status


def _reports(model: "Model", plan: Project, places: bool) -> list[Report]:
    """One for each target."""
    from fse_core.check import check  # only now: a wrong command line should not wait for the engine to load

    reports = [check(model, target) for _, target in plan.targets]
    if not places:
        return reports
    from fse_core.located import located

    return [located(report, model) for report in reports]


def _applied(plan: Project, answered: list[list[Report]]) -> list[Report]:
    """All reports, with what the policy makes of them."""
    if plan.policy is None:
        return [report for reports in answered for report in reports]
    from fse_core.policy import Checked

    pairs = (pair for reports in answered for pair in zip(reports, plan.targets, strict=True))
    return plan.policy.applied([Checked(report=report, target=name) for report, (name, _) in pairs])


def _told(plan: Project, unread: list[tuple[str, str]]) -> Run:
    from fse_core.rules.texts import texts

    return Run(rules=texts(), unread=tuple(unread), fail_on=plan.fail_on)


def _status(report: Report, fail_on: str) -> int:
    if report.verdict == "undecided":
        return NO_ANSWER
    least = _SEVERITIES.index(fail_on)
    found = any(_SEVERITIES.index(finding.severity) >= least for finding in report.findings)
    return BAD if found or report.verdict == "fails" or _breaks(report) else OK


def _breaks(report: Report) -> bool:
    """Whether it breaks by more than what was put aside."""
    if report.verdict != "breaks":
        return False
    if not report.ignored:
        return True
    from fse_core.policy import excused

    return not excused(report)


COMMAND = Command(
    help="check a model's config",
    description="Checks what a vLLM release will do with every MoE layer of a model, from its config.json alone.",
    epilog=_EPILOG,
    add_options=_add_options,
    run=_run,
)
