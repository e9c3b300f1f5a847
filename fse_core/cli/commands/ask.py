"""`fse ask`: the installed vLLM itself decides, and is held against the prediction."""

import argparse
from typing import TYPE_CHECKING, Final

from fse_core.cli import options
from fse_core.cli.commands import Command
from fse_core.cli.console import complain, style, write
from fse_core.cli.sources import answers
from fse_core.cli.statuses import BAD, NO_ANSWER, OK
from fse_core.cli.usage import Usage, checked
from fse_core.output import find

if TYPE_CHECKING:
    from fse_core.doctor.asked import Asked
    from fse_core.read.model import Model

_LIMIT: Final = 600
_LONGEST: Final = 7 * 24 * 3600
_EPILOG: Final = f"""\
{options.SOURCES}
To be called where vLLM is installed, by its Python. It builds the model without weights and runs no kernel. Without
AMD GPUs, or with another --gfx, vLLM is told that there are some, and the answer says so.

exit status: 0 vLLM does what is predicted; 1 it does something else; 2 wrong command line; 3 no vLLM can be imported,
it gave no answer, or the source could not be had or read; 70 a bug in fse.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help="file, folder, org/name[@revision] or -")
    served = parser.add_argument_group("how the model is served")
    options.add_gfx(served, default=argparse.SUPPRESS)
    options.add_target(served)
    served.add_argument("--limit", type=_seconds, default=_LIMIT, metavar="SECONDS", help=f"(default: {_LIMIT})")
    options.add_reading(parser.add_argument_group("reading"))
    options.add_output(parser.add_argument_group("output"), "ask")


def _seconds(text: str) -> int:
    """A number of seconds from 1."""
    try:
        seconds = int(text)
    except ValueError:
        seconds = 0
    if not 1 <= seconds <= _LONGEST:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to {_LONGEST}, got {text!r}")
    return seconds


def _run(args: argparse.Namespace) -> int:
    from fse_core.doctor.ask import CannotAsk, ask, require
    from fse_core.doctor.examine import GFX
    from fse_core.doctor.machine import look

    if getattr(args, "plugin", False) or getattr(args, "pp", 1) != 1:
        raise Usage("vLLM is asked as it is, in one stage: leave out --plugin and --pp")
    machine = look({})
    gfx = getattr(args, "gfx", None) or next(iter(machine.gpus), GFX)
    with checked():
        target = options.target(args, vllm=machine.versions["vllm"] or "latest", gfx=gfx)
        options.require(target)
    pretend = gfx not in machine.gpus

    def answer(model: "Model") -> "Asked":
        return ask(model, target, pretend=pretend, limit=args.limit)

    try:
        require()
    except CannotAsk as error:
        complain(str(error))
        return NO_ANSWER
    found = answers(args, [args.source], answer)
    if not found:
        return NO_ANSWER
    status = OK if found[0].agrees else BAD if found[0].differences else NO_ANSWER
    return write(find(args.format, "ask").render(found, style(args.color))) or status


COMMAND = Command(
    help="have the installed vLLM decide itself, and compare",
    description="Lets the vLLM that is installed here decide about a model, and compares that with the prediction.",
    epilog=_EPILOG,
    add_options=_add_options,
    run=_run,
)
