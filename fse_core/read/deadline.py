"""A total time limit on calls that only know limits on their parts."""

import threading
from collections.abc import Callable
from typing import Final, TypeVar

from fse_core.errors import FetchError

T = TypeVar("T")

GRACE: Final = 1.0
"""Seconds longer that a call's own limits last: whoever waits for it gives up first, and says why."""


def within(seconds: float, call: Callable[[], T], *, what: str) -> T:
    """What `call` returns or raises, or a FetchError once `seconds` have passed.

    A call that is given up goes on in a daemon thread until its own limits end it.
    """
    results: list[T] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:  # raised again by the caller's thread
            failures.append(error)

    thread = threading.Thread(target=work, name="fse-fetch", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise FetchError(
            "unreachable",
            f"{what}: no complete answer within {seconds:g} s; try again later, or set HF_HUB_OFFLINE=1 to use what "
            "the cache holds",
        )
    if failures:
        raise failures[0]
    return results[0]
