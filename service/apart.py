"""Work on many bytes, which must not keep others from their turn."""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

LARGE: Final = 64 * 1024


async def apart(size: int, work: Callable[[], T]) -> T:
    """What `work` makes of so many bytes: at once where they are few, else in a thread."""
    return work() if size <= LARGE else await asyncio.to_thread(work)
