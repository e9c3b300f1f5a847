"""`fse completion`: what makes a shell complete the command line."""

import argparse
from importlib import import_module
from typing import Final

from fse_core.cli.commands import Command
from fse_core.cli.console import write

_SHELLS: Final = ("bash", "zsh", "fish")
_EPILOG: Final = """\
for bash: fse completion bash > ~/.local/share/bash-completion/completions/fse
for zsh: fse completion zsh > a folder of $fpath, as _fse
for fish: fse completion fish > ~/.config/fish/completions/fse.fish

exit status: 0; 2 wrong command line; 70 a bug in fse.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, help="the shell")


def _run(args: argparse.Namespace) -> int:
    from fse_core.cli import build_parser
    from fse_core.cli.commands import names
    from fse_core.cli.shells import described
    from fse_core.releases import known
    from fse_core.rules.texts import texts

    rules = [rule.id for rule in texts()]
    releases = [*reversed(known()), "latest"]
    more = {
        "explain": rules,
        "releases": releases,
        **{f"check {option}": rules for option in ("--select", "--ignore")},
        **{f"{command} --vllm": releases for command in ("check", "fix", "matrix")},
    }
    script: str = import_module(f"fse_core.cli.shells.{args.shell}").script(described(build_parser(names()), more))
    return write(script)


COMMAND = Command(
    help="complete the command line in a shell",
    description="Prints a script that makes a shell complete fse's commands, options and their values.",
    epilog=_EPILOG,
    add_options=_add_options,
    run=_run,
)
