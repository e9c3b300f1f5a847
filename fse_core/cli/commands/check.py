"""`fse check`: what a release does with every layer of a model."""

import argparse
from typing import Final

from fse_core.cli import options
from fse_core.cli.commands import Command
from fse_core.cli.console import style, write
from fse_core.cli.sources import answers
from fse_core.cli.statuses import BAD, NO_ANSWER, OK
from fse_core.cli.usage import checked
from fse_core.output import find
from fse_core.report import Report
from fse_core.target import Target

_SEVERITIES: Final = ("info", "warning", "error", "never")
_EPILOG: Final = f"""\
{options.SOURCES}
exit status: 0 nothing wrong; 1 the model fails to start or breaks, or a finding at or above --fail-on;
2 wrong command line; 3 undecided, or the source could not be had or read; 70 a bug in fse.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="file, folder, org/name[@revision] or -")
    served = parser.add_argument_group("how the model is served")
    served.add_argument("--vllm", default="latest", metavar="VERSION", help="vLLM release (default: the latest known)")
    options.add_gfx(served)
    options.add_target(served)
    options.add_reading(parser.add_argument_group("reading"))
    output = parser.add_argument_group("output")
    options.add_output(output)
    output.add_argument(
        "--fail-on",
        choices=("error", "warning", "info", "never"),
        default="error",
        help="the least severe finding that makes the exit status 1 (default: error)",
    )


def _run(args: argparse.Namespace) -> int:
    with checked():
        target = _target(args)

    from fse_core.check import check  # only now: a wrong command line should not wait for the engine to load

    reports = answers(args, args.sources, lambda model: check(model, target))
    status = OK if len(reports) == len(args.sources) else NO_ANSWER
    if not reports:
        return status
    status = max(status, *(_status(report, args.fail_on) for report in reports))
    return write(find(args.format).render(reports, style(args.color))) or status


def _target(args: argparse.Namespace) -> Target:
    from fse_core.releases import load

    target = options.target(args, vllm=args.vllm, gfx=args.gfx)
    load(args.vllm).require(target)
    return target


def _status(report: Report, fail_on: str) -> int:
    if report.verdict == "undecided":
        return NO_ANSWER
    least = _SEVERITIES.index(fail_on)
    found = any(_SEVERITIES.index(finding.severity) >= least for finding in report.findings)
    return BAD if found or report.verdict in ("fails", "breaks") else OK


COMMAND = Command(
    help="check a model's config",
    description="Checks what a vLLM release will do with every MoE layer of a model, from its config.json alone.",
    epilog=_EPILOG,
    add_options=_add_options,
    run=_run,
)
