"""The models that the command line names."""

import argparse
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from fse_core.cli.console import complain
from fse_core.cli.options import token
from fse_core.cli.usage import checked
from fse_core.errors import FseError

if TYPE_CHECKING:
    from fse_core.read.model import Model

T = TypeVar("T")


def answers(
    args: argparse.Namespace,
    sources: Sequence[str],
    ask: "Callable[[Model], T]",
    unread: list[tuple[str, str]] | None = None,
) -> list[T]:
    """What `ask` says of each source. One that cannot be had or read is told on standard error, and left out.

    Such sources, and why, are added to `unread`.
    """
    with checked():
        secret = token(args.token_file)
    if args.offline:
        os.environ["HF_HUB_OFFLINE"] = "1"  # the Hub's client reads it when it is imported, which is later
    from fse_core.read.source import read_model  # only now: a wrong command line should not wait for it

    found = []
    for source in sources:
        try:
            found.append(ask(read_model(source, token=secret)))
        except FseError as error:
            named = source in str(error) or str(error).startswith("SOURCE")
            complain(str(error) if named else f"{source}: {error}")
            if unread is not None:
                unread.append((source, str(error)))
    return found


def folders(sources: Sequence[str]) -> list[str]:
    """The sources, with the folder in the place of each file in it."""
    return list(dict.fromkeys((os.path.dirname(one) or ".") if os.path.isfile(one) else one for one in sources))
