"""Child processes that compute one JSON value each and are gone."""

import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(kw_only=True)
class Child:
    """A forked process and the end of the pipe on which its value arrives."""

    pid: int
    pipe: int
    deadline: float
    received: bytearray = field(default_factory=bytearray)

    def read(self) -> bool:
        """Take what has arrived; False once the child has closed its end."""
        chunk = os.read(self.pipe, 1 << 20)
        self.received += chunk
        return bool(chunk)

    def finish(self, *, kill: bool = False) -> Any:
        """The child's value, or None where it ended without one."""
        if kill:
            os.kill(self.pid, signal.SIGKILL)
        os.close(self.pipe)
        os.waitpid(self.pid, 0)
        try:
            return json.loads(self.received)
        except ValueError:
            return None


def fork(compute: Callable[[], Any], limit: float) -> Child:
    """Start a child that computes a value; the caller reads it and finishes the child."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid:
        os.close(theirs)
        return Child(pid=pid, pipe=ours, deadline=time.monotonic() + limit)
    status = 1
    try:
        os.close(ours)
        value = json.dumps(compute()).encode()
        with os.fdopen(theirs, "wb") as pipe:
            pipe.write(value)
        status = 0
    finally:
        os._exit(status)
