"""Regular expressions that come with a checkpoint: compiled only if matching them is sure to end soon.

vLLM matches them with a library that has no time limit either; there the checkpoint's publisher hurts only whoever
serves it. Here anyone may ask about any config, so what could run away is undecided.
"""

import functools
import re
from re import _parser  # type: ignore[attr-defined]  # the only way to see a pattern's repeats
from typing import Any

from fse_core.errors import Undecided

_MOST_REPEATS = 6
_MOST_CHARACTERS = 1000


def _unbounded_repeats(parsed: Any, inside: bool = False) -> int:
    """How many repeats have no bound; Undecided where one stands inside another, which can take exponential time."""
    count = 0
    for operator, argument in parsed:
        repeats = str(operator) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and argument[1] > 16
        if repeats and inside:
            raise Undecided("a repeat inside a repeat")
        count += repeats
        for part in argument if isinstance(argument, (tuple, list)) else [argument]:
            for body in part if isinstance(part, list) else [part]:
                if isinstance(body, _parser.SubPattern):
                    count += _unbounded_repeats(body, inside or repeats)
    return count


@functools.lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The compiled pattern. Undecided where it is not a pattern of Python's `re`, or one that could run away."""
    named = f"the pattern re:{pattern[:80]} of the quantization block"
    if len(pattern) > _MOST_CHARACTERS:
        raise Undecided(f"{named} is longer than {_MOST_CHARACTERS} characters")
    try:
        parsed = _parser.parse(pattern)
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise Undecided(f"{named} cannot be compiled: {error}") from None
    try:
        repeats = _unbounded_repeats(parsed)
    except Undecided as cause:
        raise Undecided(f"{named} could take exponential time: {cause.reason}") from None
    if repeats > _MOST_REPEATS:
        raise Undecided(f"{named} has more than {_MOST_REPEATS} unbounded repeats")
    return compiled
