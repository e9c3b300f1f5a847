"""Regular expressions that come with a checkpoint: compiled only if matching a module's name is sure to end soon.

vLLM matches them with a library that has no time limit either; there the checkpoint's publisher hurts only whoever
serves it. Here anyone may ask about any config, so what could run away is undecided.
"""

import functools
import importlib
import math
import re
import warnings
from typing import Any

from fse_core.errors import Undecided

_parser: Any = importlib.import_module("re._parser")
"""The only way to see a pattern's repeats."""

_MOST_CHARACTERS = 1000
_NAME = 64
"""A module's name is about this long: so many places may a repeat end at."""
_MOST_WAYS = 10_000_000
"""In how many ways a name may be cut up before the pattern fails. A match of that size takes a tenth of a second."""
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


class _Shape:
    """How many repeats a pattern has, and in how many ways its alternatives and options combine."""

    def __init__(self) -> None:
        self.repeats = 0
        self.choices = 1

    def add(self, parsed: Any, *, repeated: bool) -> None:
        for operator, argument in parsed:
            self._add(str(operator), argument, repeated)

    def _add(self, operator: str, argument: Any, repeated: bool) -> None:
        many = operator in _REPEATS and argument[1] > 1
        optional = operator in _REPEATS and not many
        branches = len(argument[1]) if operator == "BRANCH" else 1
        if repeated and (many or optional or branches > 1):
            raise Undecided("a repeat of something that can itself match in several ways")
        self.repeats += many
        self.choices *= branches * (2 if optional else 1)
        for body in _bodies(argument):
            self.add(body, repeated=repeated or many)

    @property
    def ways(self) -> int:
        """Each repeat ends at one of the name's places, no earlier than the one before it."""
        return math.comb(_NAME + self.repeats, self.repeats) * self.choices


def _bodies(argument: Any) -> list[Any]:
    parts = argument if isinstance(argument, (tuple, list)) else [argument]
    nested = [body for part in parts for body in (part if isinstance(part, list) else [part])]
    return [body for body in nested if isinstance(body, _parser.SubPattern)]


@functools.lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The compiled pattern. Undecided where Python's `re` reads it otherwise than vLLM's library, or could run away."""
    named = f"the pattern re:{pattern[:80]}"
    if len(pattern) > _MOST_CHARACTERS:
        raise Undecided(f"{named} is longer than {_MOST_CHARACTERS} characters")
    try:
        with warnings.catch_warnings():
            # What `re` warns of, such as [[:digit:]], means something else to the library that vLLM uses.
            warnings.simplefilter("error")
            shape = _Shape()
            shape.add(_parser.parse(pattern), repeated=False)
            compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise Undecided(f"{named} cannot be compiled: {error}") from None
    except Undecided as cause:
        raise Undecided(f"{named} could take exponential time: {cause.reason}") from None
    if shape.ways > _MOST_WAYS:
        raise Undecided(f"{named} can match in too many ways")
    return compiled
