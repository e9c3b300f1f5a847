"""A pasted shell text in words, one list of words a command, with the variables that each command would see."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import dropwhile

from fse_core.doctor.reader import Reader, without_prompts
from fse_core.doctor.variables import Seen, Variables, assignment
from fse_core.errors import InputError

__all__ = ["Given", "Script", "assignment", "read"]

_LARGEST = 1 << 20
_KEYWORDS = ("then", "do", "else", "{", "!")


@dataclass(frozen=True, kw_only=True)
class Given:
    """One command: its words, what was known of variables then, and a text that it is given to read."""

    words: list[str]
    seen: Seen
    stdin: str | None = None


@dataclass(kw_only=True)
class Script:
    """The commands in turn; `variables` are those of the end."""

    commands: list[Given] = field(default_factory=list)
    variables: Variables


def read(text: str, exported: Mapping[str, str] | None = None, inherited: Collection[str] = ()) -> Script:
    """The text's commands. InputError where a quote is left open.

    exported: variables that are exported before it; inherited: names of more, whose values are not taken.
    `export`, `unset`, `set -a` and assignments that stand alone are taken in; a variable that the text does not set
    stays as it is written, as do substitutions of commands. A prompt before a line (`$ `) is no part of it.
    """
    if len(text) > _LARGEST:
        raise InputError("the command", f"is longer than {_LARGEST} characters")
    variables = Variables(exported or {}, inherited)
    script = Script(variables=variables)
    for found, stdin in Reader(without_prompts(text.removeprefix("\ufeff")), variables).commands():
        words = list(dropwhile(_KEYWORDS.__contains__, found))
        if words and not variables.take(words):
            script.commands.append(Given(words=words, seen=variables.seen(), stdin=stdin))
    return script
