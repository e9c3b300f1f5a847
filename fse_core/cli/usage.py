"""A wrong command line."""

from collections.abc import Iterator
from contextlib import contextmanager

from fse_core.errors import InputError


class Usage(Exception):
    """What is wrong with the command line, beyond what argparse finds."""


@contextmanager
def checked() -> Iterator[None]:
    """Inside, an InputError is about an option: the command line is wrong."""
    try:
        yield
    except InputError as error:
        raise Usage(str(error)) from None
