"""`fse releases`: what each release has, and which one an installation is."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from fse_core.cli import options
from fse_core.cli.commands import Command
from fse_core.cli.console import complain, style, write
from fse_core.cli.statuses import BAD, NO_ANSWER, OK
from fse_core.cli.usage import Usage, checked
from fse_core.errors import InputError
from fse_core.output import find

if TYPE_CHECKING:
    from fse_core.releases import Release

_STATUS: Final[Mapping[str, int]] = {"identical": OK, "closest": BAD, "unknown": NO_ANSWER}
_EPILOG: Final = """\
exit status: 0; with --installed 0 identical to a release, 1 close to one, 3 unknown or not to be read;
2 wrong command line; 70 a bug in fse.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="these alone; a single one is told in full")
    parser.add_argument(
        "--installed",
        metavar="DIR",
        help="which release the vllm package in this folder is, whatever it calls itself; its code is read, never run",
    )
    options.add_output(parser.add_argument_group("output"), "releases")


def _run(args: argparse.Namespace) -> int:
    if args.installed is not None:
        if args.versions:
            raise Usage("--installed takes no VERSION beside it")
        return _installed(args)
    from fse_core.releases.history import history

    with checked():
        entries = history(args.versions or None)
    return write(find(args.format, "releases").render(entries, style(args.color)))


def _installed(args: argparse.Namespace) -> int:
    from fse_core.releases.installed import identify

    try:
        found = identify(args.installed, _known())
    except InputError as error:
        complain(str(error))
        return NO_ANSWER
    return write(find(args.format, "installed").render([found], style(args.color))) or _STATUS[found.kind]


def _known() -> "list[Release]":
    from fse_core.releases import known, load

    return [load(name) for name in known()]


COMMAND = Command(
    help="what each release has; which one is installed",
    description="Says of every known vLLM release what it fuses, how it decides, and what it changed.",
    epilog=_EPILOG,
    add_options=_add_options,
    run=_run,
)
