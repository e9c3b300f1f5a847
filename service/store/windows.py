"""Requests counted in this process, in fixed windows."""

import time
from collections.abc import Callable

from service.store.base import Allowance

_MOST_CLIENTS = 50_000


class Windows:
    """One count a client; all counts start anew with each window, so that nothing grows for long."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._window: tuple[int, int] = (0, 0)
        self._counts: dict[str, int] = {}

    def hit(self, client: str, most: int, seconds: int, cost: int = 1) -> Allowance:
        now = self._clock()
        number, past = divmod(now, seconds)
        window = (int(number), seconds)
        if window != self._window or len(self._counts) > _MOST_CLIENTS:
            self._window, self._counts = window, {}
        count = self._counts[client] = self._counts.get(client, 0) + cost
        return Allowance(left=most - count, reset=seconds - past)
