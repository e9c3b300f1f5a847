"""`--headers`: whether the headers of the safetensors files are read besides, with what is told while they are."""

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from fse_core.cli.console import complain
from fse_core.cli.options import token
from fse_core.errors import FseError
from fse_core.target import Target

if TYPE_CHECKING:
    from fse_core.read.model import Model

_SHOWN: Final = 10
_WIDTH: Final = 30


def add_headers(group: argparse._ArgumentGroup) -> None:
    """The option."""
    group.add_argument(
        "--headers",
        choices=("none", "sample", "full"),
        default="none",
        help="also read the headers of the safetensors files: of those that show one layer of each kind, or of all; "
        "no weights are read (default: none)",
    )


def with_headers(
    model: "Model", args: argparse.Namespace, targets: Sequence[Target], unread: list[tuple[str, str]]
) -> "Model":
    """The model with the headers that were asked for; without them, and told so, where they cannot be had."""
    if args.headers == "none":
        return model
    from fse_core import headers
    from fse_core.read.safetensors.store import user_store

    with _Bar() as bar:
        try:
            found = headers.with_headers(
                model, args.headers, targets, token=token(args.token_file), store=user_store(), progress=bar.show
            )
        except FseError as error:
            bar.clear()
            unread.append((model.source.id, str(error)))
            complain(f"{model.source.id}: without its headers: {error}")
            return model
    if found.headers is not None:
        problems = found.headers.problems
        for problem in problems[:_SHOWN]:
            complain(f"{model.source.id}: {problem.file}{': ' if problem.file else ''}{problem.message}")
        if len(problems) > _SHOWN:
            complain(f"{model.source.id}: and {len(problems) - _SHOWN:,} more such problems of its files")
    return found


class _Bar:
    """A line on standard error that says how many files were read, where that is a terminal."""

    def __init__(self) -> None:
        self.shown = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.drawn = False

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *raised: object) -> None:
        self.clear()

    def show(self, done: int, total: int) -> None:
        if not self.shown or total < 2:
            return
        full = _WIDTH * done // total
        self._write(f"\rheaders [{'#' * full}{'.' * (_WIDTH - full)}] {done}/{total}")
        self.drawn = True

    def clear(self) -> None:
        if self.drawn:
            self._write("\r\x1b[K")
            self.drawn = False

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()
