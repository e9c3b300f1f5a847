"""`fse matrix`: a model on all releases and GPUs in one table."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Final

from fse_core.cli import options
from fse_core.cli.commands import Command
from fse_core.cli.console import style, write
from fse_core.cli.sources import answers
from fse_core.cli.statuses import NO_ANSWER, OK
from fse_core.cli.usage import checked
from fse_core.errors import InputError
from fse_core.output import find
from fse_core.target import Target

_GPUS: Final = ("gfx942", "gfx950")
_EPILOG: Final = f"""\
{options.SOURCES}
A cell is y (fuses), y! (fuses, and something may go wrong), n (does not fuse), breaks (would fuse, and loading goes
wrong), fails (does not start), n.a. (no layer has shared experts beside routed ones), - (not in this release) or
unknown, with the numbers of the notes below.

exit status: 0 the table was made, whatever it says; 2 wrong command line; 3 a source could not be had or read, or no
release decides about it; 70 a bug in fse.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="file, folder, org/name[@revision] or -")
    shown = parser.add_argument_group("what is shown")
    shown.add_argument(
        "--vllm",
        action="append",
        metavar="VERSION",
        help="a release, or OLDEST..NEWEST; may be repeated (default: all)",
    )
    shown.add_argument(
        "--gfx",
        action="append",
        type=options.gfx,
        help="GPU architecture; may be repeated (default: gfx942 and gfx950)",
    )
    options.add_target(parser.add_argument_group("how the model is served"))
    options.add_reading(parser.add_argument_group("reading"))
    options.add_output(parser.add_argument_group("output"), "matrix")


def _run(args: argparse.Namespace) -> int:
    with checked():
        target = options.target(args)
        versions = _versions(args.vllm or [".."], target)
    gpus = tuple(dict.fromkeys(args.gfx or _GPUS))

    from fse_core.sweep import sweep  # only now: a wrong command line should not wait for the engine to load

    matrices = answers(args, args.sources, lambda model: sweep(model, target, versions, gpus))
    status = OK if len(matrices) == len(args.sources) else NO_ANSWER
    if not matrices:
        return status
    if not all(matrix.decided for matrix in matrices):
        status = NO_ANSWER
    return write(find(args.format, "matrix").render(matrices, style(args.color))) or status


def _versions(asked: Sequence[str], target: Target) -> tuple[str, ...]:
    """The releases that are asked for. InputError where one is none, or none of them takes the target's options."""
    from fse_core import releases

    found = tuple(name for text in asked for name in _range(text))
    refused = None
    for name in reversed(found):
        try:
            releases.load(name).require(target)
        except InputError as error:
            refused = refused or error
        else:
            return found
    assert refused is not None
    raise refused


def _range(text: str) -> Iterator[str]:
    """`0.24.0..0.33.0`, either end of which may be left out, or one release."""
    from fse_core import releases

    oldest, dots, newest = text.partition("..")
    if not dots:
        releases.resolve(text)
        yield text
        return
    known = releases.known()
    start, end = _numbers(oldest or known[0]), _numbers(newest or known[-1])
    between = [name for name in known if start <= _numbers(name) <= end]
    if not between:
        raise InputError("--vllm", f"no known release is in {text}; known are {known[0]} to {known[-1]}")
    yield from between


def _numbers(version: str) -> tuple[int, ...]:
    from fse_core import releases

    return releases.parsed(releases.resolve(version) if version == "latest" else version).numbers


COMMAND = Command(
    help="a model on all releases and GPUs, since when and until when",
    description="Shows what every known vLLM release does with a model on several GPUs, since when and until when.",
    epilog=_EPILOG,
    add_options=_add_options,
    run=_run,
)
