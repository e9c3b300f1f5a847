"""One file a shell: each module beside this one defines `script`, which writes the completion of a command line."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option: its names, what it is for, the words that it takes, and whether it takes anything at all."""

    names: tuple[str, ...]
    help: str
    takes: bool
    words: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Words:
    """A command: what it is for, its options, and the words that it takes besides; files where there are none."""

    name: str
    help: str
    options: tuple[Option, ...]
    words: tuple[str, ...] = ()


def described(parser: argparse.ArgumentParser, more: Mapping[str, Sequence[str]]) -> list[Words]:
    """The commands of a parser. `more` are the words that are known for `command` or `command --option`."""
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    helps = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    return [
        Words(
            name=name,
            help=helps[name],
            options=tuple(_options(name, its, more)),
            words=tuple(more.get(name, ())) or _positional(its),
        )
        for name, its in commands.choices.items()
    ]


def _options(name: str, parser: argparse.ArgumentParser, more: Mapping[str, Sequence[str]]) -> Iterator[Option]:
    for action in parser._actions:
        if action.option_strings:
            known = [word for option in action.option_strings for word in more.get(f"{name} {option}", ())]
            yield Option(
                names=tuple(action.option_strings),
                help=(action.help or "").replace("%%", "%"),
                takes=action.nargs != 0,
                words=tuple(str(choice) for choice in action.choices or known),
            )


def _positional(parser: argparse.ArgumentParser) -> tuple[str, ...]:
    choices = (action.choices or () for action in parser._actions if not action.option_strings)
    return tuple(str(choice) for group in choices for choice in group)
