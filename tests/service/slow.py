"""Work for a process of the service: it finds a function by its name, and so none that a test makes."""

import time

from fse_core.errors import InputError, OutOfTime


def sleep(*_: object) -> None:
    time.sleep(60)


def doze(*_: object) -> bytes:
    time.sleep(1)
    return b"{}"


def give_up(*_: object) -> None:
    raise OutOfTime("it takes more than 2 s")


def refuse(*_: object) -> None:
    raise InputError("config.a", "expected another")


def fail(*_: object) -> None:
    raise KeyError("inner workings")
