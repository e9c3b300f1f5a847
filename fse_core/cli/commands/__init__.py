"""One file a command: each module beside this one defines `COMMAND` and is called as its module is."""

import argparse
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command: its help, its options, and what it does, which gives the exit status."""

    help: str
    description: str
    epilog: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def names() -> Sequence[str]:
    """What there is."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__))


def find(name: str) -> Command:
    """The command of this name, which is one of `names`."""
    command: Command = importlib.import_module(f"{__name__}.{name}").COMMAND
    return command
