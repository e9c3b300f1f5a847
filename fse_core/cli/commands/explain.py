"""`fse explain`: what a rule says, and why."""

import argparse
from typing import Final

from fse_core.cli import options
from fse_core.cli.commands import Command
from fse_core.cli.console import style, write
from fse_core.cli.usage import Usage, checked
from fse_core.output import find

_EPILOG: Final = """\
RULE is an id such as FSE101, or a rule's name; fse rules lists them.

exit status: 0; 2 wrong command line, or no such rule; 70 a bug in fse.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rules", nargs="*", metavar="RULE", help="these rules")
    parser.add_argument("--all", action="store_true", help="all rules")
    options.add_output(parser.add_argument_group("output"), "explain", "text")


def _run(args: argparse.Namespace) -> int:
    if bool(args.rules) == args.all:
        raise Usage("expected a RULE, such as FSE101, or --all")
    from fse_core.rules.texts import ids, resolve, texts

    asked = texts()
    if args.rules:
        by_id, known = {one.id: one for one in asked}, ids()
        with checked():
            asked = tuple(by_id[found] for found in dict.fromkeys(resolve(name, known, "RULE") for name in args.rules))
    return write(find(args.format, "explain").render(asked, style(args.color)))


COMMAND = Command(
    help="what a rule says, and why",
    description="Explains rules: what each looks for, what goes wrong, and how sure that is.",
    epilog=_EPILOG,
    add_options=_add_options,
    run=_run,
)
