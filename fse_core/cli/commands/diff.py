"""`fse diff`: what changing the release changes for a model."""

import argparse
from collections.abc import Mapping
from typing import Final

from fse_core.cli import options
from fse_core.cli.commands import Command
from fse_core.cli.console import style, write
from fse_core.cli.sources import answers
from fse_core.cli.statuses import BAD, NO_ANSWER, OK
from fse_core.cli.usage import checked
from fse_core.output import find

_STATUS: Final[Mapping[str, int]] = {"worse": BAD, "undecided": NO_ANSWER}
_EPILOG: Final = f"""\
{options.SOURCES}
exit status: 0 not worse; 1 worse: layers that fused soundly no longer do, or the model fails or breaks and did not;
2 wrong command line; 3 undecided on either release, or the source could not be had or read; 70 a bug in fse.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help="file, folder, org/name[@revision] or -")
    parser.add_argument("old", metavar="OLD", help="the release from which, such as 0.31.0")
    parser.add_argument("new", metavar="NEW", help="the release to which, such as 0.33.0 or latest")
    served = parser.add_argument_group("how the model is served, on both")
    options.add_gfx(served)
    options.add_target(served)
    options.add_reading(parser.add_argument_group("reading"))
    options.add_output(parser.add_argument_group("output"), "diff")


def _run(args: argparse.Namespace) -> int:
    from fse_core.releases import load

    with checked():
        target = options.target(args, gfx=args.gfx)
        for version in (args.old, args.new):
            load(version).require(target)

    from fse_core.upgrade import upgrade  # only now: a wrong command line should not wait for the engine to load

    diffs = answers(args, [args.source], lambda model: upgrade(model, target, args.old, args.new))
    if not diffs:
        return NO_ANSWER
    return write(find(args.format, "diff").render(diffs, style(args.color))) or _STATUS.get(diffs[0].outcome, OK)


COMMAND = Command(
    help="what another release changes for a model",
    description="Compares what two vLLM releases do with a model, layer by layer, and says what changes and why.",
    epilog=_EPILOG,
    add_options=_add_options,
    run=_run,
)
