"""Work on many items at once, by threads that hold up nothing: whoever waits no longer simply goes on."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def each(items: Iterable[K], work: Callable[[K], V], *, workers: int) -> Iterator[tuple[K, V]]:
    """Every item with what `work` returns for it, as they come. What it raises is raised here, and ends the rest."""
    waiting = deque(items)
    results: SimpleQueue[tuple[K, V | None, BaseException | None]] = SimpleQueue()
    stopped = threading.Event()

    def run() -> None:
        while not stopped.is_set():
            try:
                item = waiting.popleft()
            except IndexError:
                return
            try:
                results.put((item, work(item), None))
            except BaseException as error:  # raised again by the caller's thread
                results.put((item, None, error))

    count = len(waiting)
    for _ in range(min(workers, count)):
        threading.Thread(target=run, name="fse-headers", daemon=True).start()
    try:
        for _ in range(count):
            item, value, error = results.get()
            if error is not None:
                raise error
            yield item, value  # type: ignore[misc]
    finally:
        stopped.set()
