"""`fse verify`: whether what `fse convert` wrote is whole, and which releases fuse it."""

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from fse_core.cli import options
from fse_core.cli.commands import Command
from fse_core.cli.console import complain, write
from fse_core.cli.statuses import BAD, NO_ANSWER, OK
from fse_core.cli.usage import checked
from fse_core.errors import FseError, InputError
from fse_core.target import Target

if TYPE_CHECKING:
    from fse_core.convert.verify import Verified

_EPILOG: Final = """\
Sums are compared for every file that fse convert wrote, sizes for those that it linked to. A release fuses the
checkpoint where it does so at tp 1 or tp 8 on gfx950, unless --gfx or --tp says how it is served.

exit status: 0 all is as it should be, and every release that was asked fuses; 1 something is not; 2 wrong command
line; 3 DIR is no finished conversion, or could not be read; 70 a bug in fse.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="what fse convert wrote")
    parser.add_argument(
        "--vllm",
        action="append",
        metavar="VERSION",
        help="a release to ask; may be repeated (default: all whose gate has a branch for the quantization class)",
    )
    parser.add_argument("--gfx", type=options.gfx, help="GPU architecture (default: gfx950)")
    parser.add_argument("--tp", type=options.size, metavar="N", help="tensor parallel size (default: 1 or 8)")


def _run(args: argparse.Namespace) -> int:
    with checked():
        names = None if args.vllm is None else [_known(name) for name in args.vllm]

    from fse_core.convert.progress import Bar
    from fse_core.convert.verify import verify  # only now: a wrong command line should not wait for the engine

    bar = Bar()
    try:
        found = verify(args.folder, releases=names, targets=_targets(args), begin=bar.begin, progress=bar.advance)
    except FseError as error:
        complain(str(error))
        return NO_ANSWER
    finally:
        bar.end()
    return write("".join(f"{line}\n" for line in _told(args.folder, found))) or (OK if found.sound else BAD)


def _known(name: str) -> str:
    """The release. InputError where it is not known itself: what another one does proves nothing of it."""
    from fse_core.releases import is_known, known, resolve

    answers = resolve(name)
    if not is_known(name):
        raise InputError("--vllm", f"vLLM {name} is not known; those that are: {', '.join(known())}")
    return answers


def _targets(args: argparse.Namespace) -> Sequence[Target] | None:
    if args.gfx is None and args.tp is None:
        return None
    sizes = (1, 8) if args.tp is None else (args.tp,)
    return tuple(Target(gfx=args.gfx or "gfx950", tp=size) for size in sizes)


def _told(folder: str, found: "Verified") -> Iterator[str]:
    yield folder
    for fault in found.faults:
        yield f"  {fault}"
    for answer in found.accepted:
        yield f"  vLLM {answer.release} {'fuses it' if answer.accepts else f'does not fuse it: {answer.why}'}"
    accepting = sum(answer.accepts for answer in found.accepted)
    state = f"{len(found.faults)} faults" if found.faults else "whole"
    yield (
        f"{state}: {found.files} files, {found.summed} by their sums, {found.tensors} converted tensors; "
        f"{accepting} of {len(found.accepted)} releases fuse it"
    )


COMMAND = Command(
    help="look over what fse convert wrote",
    description="Compares a converted checkpoint with its manifest, and asks the releases whether they fuse it.",
    epilog=_EPILOG,
    add_options=_add_options,
    run=_run,
)
