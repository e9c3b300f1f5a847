"""What the plugin says, in vLLM's own log: each thing once in a process."""

import logging

LOGGER = logging.getLogger("vllm.fse")
_said: set[str] = set()


def line(words: str, *values: object, level: int = logging.WARNING) -> None:
    """One line, unless it has been said."""
    text = words % values
    if text not in _said:
        _said.add(text)
        LOGGER.log(level, "FSE: %s", text)


def info(words: str, *values: object) -> None:
    """One line that is no warning."""
    line(words, *values, level=logging.INFO)


def forget() -> None:
    """Let everything be said again."""
    _said.clear()
