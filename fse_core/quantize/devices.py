"""What the machine offers, asked once, and what was chosen, said once."""

import functools
import importlib.util
import logging

log = logging.getLogger(__name__)


@functools.cache
def has_triton() -> bool:
    """Whether Triton can be imported."""
    return importlib.util.find_spec("triton") is not None


@functools.cache
def say_once(message: str) -> None:
    """Log this message the first time it is said."""
    log.info(message)
