"""`fse`: the command line. It turns options into questions and errors into exit statuses, and knows nothing else."""

import argparse
import gc
import os
import sys
from collections.abc import Sequence

from fse_core.cli import commands, statuses
from fse_core.cli.console import complain, write
from fse_core.cli.usage import Usage


def run() -> None:
    """The console script."""
    gc.set_threshold(100_000)  # most of a run is imports, in which hardly anything is garbage
    sys.exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit status. A wrong command line raises SystemExit(2), as argparse does."""
    try:
        return _command(argv)
    except KeyboardInterrupt:
        return statuses.INTERRUPTED
    except Exception as error:
        if os.environ.get("FSE_DEBUG") == "1":
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        complain(f"this is a bug in fse, please report it with the source you checked: {what} (FSE_DEBUG=1 says more)")
        return statuses.BUG


def _command(argv: Sequence[str] | None) -> int:
    words = sys.argv[1:] if argv is None else argv
    known = commands.names()
    parser = build_parser(words[:1] if words and words[0] in known else known)
    args = parser.parse_args(words)
    if args.version:
        return write(_version())
    if args.command is None:
        parser.error("expected a command, such as: fse check SOURCE")
    try:
        status: int = args.run(args)
    except Usage as error:
        args.parser.error(str(error))
    return status


def build_parser(names: Sequence[str]) -> argparse.ArgumentParser:
    """The command line of these commands."""
    parser = argparse.ArgumentParser(
        prog="fse",
        description="Tells which MoE layers a vLLM release on ROCm fuses with their shared experts, and why not.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="the version of fse and the vLLM releases it knows")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name in names:
        command = commands.find(name)
        its = subparsers.add_parser(
            name,
            help=command.help,
            description=command.description,
            epilog=command.epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_options(its)
        its.set_defaults(parser=its, run=command.run)
    return parser


def _version() -> str:
    from fse_core import __version__
    from fse_core.releases import known

    return f"fse {__version__} (vLLM {known()[0]} to {known()[-1]})\n"
