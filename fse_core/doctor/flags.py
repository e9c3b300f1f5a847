"""The options of `vllm serve`, release by release, as the releases' own parsers state them.

flags.json is written by `python -m conformance.flags`: a row for each option as it was in the releases `since` to
`until`, with all its names.
"""

import argparse
import functools
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any, Final, NoReturn

from fse_core import releases
from fse_core.errors import InputError

_INVERSE: Final = {"--enable-": "--disable-", "--disable-": "--enable-"}
_SEVERAL: Final = {"many": "+", "any": "*", "optional": "?"}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError("vllm serve", message)


class _Switch(argparse.Action):
    """On, or off by one of its negative names."""

    def __init__(self, option_strings: list[str], dest: str, negative: frozenset[str]) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS)
        self.negative = negative

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, option_string not in self.negative)


@functools.cache
def parser(version: str) -> argparse.ArgumentParser:
    """One that takes and refuses the words that the release's does; a value that is not given leaves no trace.

    Values stay text, and are not looked at. InputError is raised by what the release's parser ends with.
    """
    made = _Parser(prog="vllm serve", add_help=False)
    for row in _rows(releases.resolve(version)):
        _add(made, row)
    return made


def _add(made: argparse.ArgumentParser, row: dict[str, Any]) -> None:
    options, kind = list(row["options"]), row["kind"]
    if not options:
        made.add_argument(row["dest"], nargs="?", default=argparse.SUPPRESS)
    elif kind == "switch":
        names = dict.fromkeys([*options, *_negatives(options)])
        made.add_argument(*names, dest=row["dest"], action=_Switch, negative=frozenset(_negatives(options)))
    elif kind == "on":
        made.add_argument(*options, dest=row["dest"], action="store_true", default=argparse.SUPPRESS)
    else:
        nargs = _SEVERAL.get(kind)
        action = "append" if kind == "append" else "store"
        made.add_argument(*options, dest=row["dest"], nargs=nargs, action=action, default=argparse.SUPPRESS)


def _negatives(options: Iterable[str]) -> Iterator[str]:
    """`--no-x` for each `--x`, and where an option is `--enable-x`, also `--disable-x`, and the reverse.

    Source: vllm/utils/argparse_utils.py:109 at 0.33.0.
    """
    given = [name for name in options if name.startswith("--")]
    first = next((name for name in given if not name.startswith("--no-")), "")
    inverse = next((other + first[len(start) :] for start, other in _INVERSE.items() if first.startswith(start)), None)
    for name in given:
        if name.startswith("--no-") or name == inverse:
            yield name
        else:
            yield f"--no-{name[2:]}"


def _rows(version: str) -> Iterator[dict[str, Any]]:
    number = releases.parsed(version).numbers
    for row in _all():
        if releases.parsed(row["since"]).numbers <= number <= releases.parsed(row["until"]).numbers:
            yield row


@functools.cache
def _all() -> list[dict[str, Any]]:
    with open(os.path.join(os.path.dirname(__file__), "flags.json"), encoding="utf-8") as file:
        rows: list[dict[str, Any]] = json.load(file)
    return rows
