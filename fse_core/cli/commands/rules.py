"""`fse rules`: all rules, one line each."""

import argparse
from typing import Final

from fse_core.cli import options
from fse_core.cli.commands import Command
from fse_core.cli.console import style, write
from fse_core.output import find

_EPILOG: Final = """\
exit status: 0; 2 wrong command line; 70 a bug in fse.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    options.add_output(parser.add_argument_group("output"), "rules")


def _run(args: argparse.Namespace) -> int:
    from fse_core.rules.texts import texts

    return write(find(args.format, "rules").render(texts(), style(args.color)))


COMMAND = Command(
    help="all rules, one line each",
    description="Lists all rules: what each is called, how bad what it finds is, and what it tells.",
    epilog=_EPILOG,
    add_options=_add_options,
    run=_run,
)
