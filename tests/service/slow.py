"""Work for a process of the service: it finds a function by its name, and so none that a test makes."""

import os
import threading
import time

from fse_core.errors import FetchError, InputError, OutOfTime
from service.channel import Line


def sleep(*_: object) -> None:
    time.sleep(60)


def doze(*_: object) -> bytes:
    time.sleep(1)
    return b"{}"


def chat(line: Line, times: int) -> tuple[int, list[object]]:
    """Talks, and leaves a thread behind that goes on talking."""
    answers = []
    for number in range(times):
        line.say("told", number)
        answers.append(line.ask("asked", number))

    def go_on() -> None:
        for number in range(100):
            line.say("late", number)
            line.ask("late", number)
            time.sleep(0.01)

    threading.Thread(target=go_on, daemon=True).start()
    return os.getpid(), answers


def lost(*_: object) -> None:
    raise FetchError("rate_limited", "asked too often", retry_after=7.0)


def give_up(*_: object) -> None:
    raise OutOfTime("it takes more than 2 s")


def refuse(*_: object) -> None:
    raise InputError("config.a", "expected another")


def fail(*_: object) -> None:
    raise KeyError("inner workings")
