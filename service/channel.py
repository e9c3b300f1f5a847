"""The pipes between the service and a process that works for it: pickles, each after eight bytes with its length."""

import pickle
import threading
from typing import Any, BinaryIO, Final

LENGTH: Final = 8


def packed(value: Any) -> bytes:
    """The value as it is passed on."""
    body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(LENGTH, "big") + body


class Line:
    """What work says before it is done, and what it asks the service for; any of its threads may, one after the other.

    Work may leave threads behind that have not noticed that it is over: after its end the line is silent.
    """

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source = source
        self._sink = sink
        self._lock = threading.Lock()
        self._ended = False

    def say(self, *said: Any) -> None:
        with self._lock:
            if not self._ended:
                self._send(("say", *said))

    def ask(self, *asked: Any) -> Any:
        """What the service answers; None after the end."""
        with self._lock:
            if self._ended:
                return None
            self._send(("ask", *asked))
            return pickle.loads(self._source.read(int.from_bytes(self._source.read(LENGTH), "big")))

    def end(self) -> None:
        with self._lock:
            self._ended = True

    def _send(self, value: Any) -> None:
        self._sink.write(packed(value))
        self._sink.flush()
