"""How long ago, in plain words."""

from typing import Final

_UNITS: Final = (("day", 86400), ("hour", 3600), ("minute", 60))


def ago(seconds: float) -> str:
    """The largest unit that fits, whole: `3 hours ago`."""
    for unit, length in _UNITS:
        count = int(seconds // length)
        if count:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "less than a minute ago"
