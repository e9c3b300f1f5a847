"""The exit statuses."""

from typing import Final

OK: Final = 0
BAD: Final = 1
USAGE: Final = 2
NO_ANSWER: Final = 3
BUG: Final = 70
INTERRUPTED: Final = 130
