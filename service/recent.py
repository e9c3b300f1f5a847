"""The latest answers, in memory, within a number of bytes."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")

_OVERHEAD = 512


class Recent(Generic[V]):
    """The least recently used go first; what is past its time is not given out."""

    def __init__(self, most: int, clock: Callable[[], float] = time.time) -> None:
        self._most = most
        self._clock = clock
        self._held = 0
        self._values: OrderedDict[Hashable, tuple[V, int, float]] = OrderedDict()

    def get(self, key: Hashable) -> V | None:
        found = self._values.get(key)
        if found is None:
            return None
        if found[2] <= self._clock():
            self._drop(key)
            return None
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: Hashable, value: V, size: int, until: float) -> None:
        """Keeps `value`, of `size` bytes, until that Unix time."""
        if key in self._values:
            self._drop(key)
        size += _OVERHEAD
        self._values[key] = (value, size, until)
        self._held += size
        while self._held > self._most and self._values:
            self._drop(next(iter(self._values)))

    def _drop(self, key: Hashable) -> None:
        self._held -= self._values.pop(key)[1]
