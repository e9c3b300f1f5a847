"""Requests counted in this process, in fixed windows."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from service.store.base import Allowance

_MOST_CLIENTS: Final = 50_000


class Windows:
    """One count a client. Of too many clients, the one that was longest silent is forgotten."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._counts: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def hit(self, client: str, most: int, seconds: int, cost: int = 1) -> Allowance:
        now = self._clock()
        window = int(now // seconds)
        counted_in, count = self._counts.pop(client, (window, 0))
        count = cost + (count if counted_in == window else 0)
        self._counts[client] = (window, count)
        if len(self._counts) > _MOST_CLIENTS:
            self._counts.popitem(last=False)
        return Allowance(left=most - count, reset=seconds - now % seconds)
