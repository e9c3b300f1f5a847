"""`python -m service.worker`: calls what its input names, one call after the other, until the input ends.

Both ways, eight bytes tell the length of the pickle that follows. A byte at the start says that it is ready. A call
that talks gets a line as its first argument.
"""

import pickle
import sys
import traceback
from typing import Any

from fse_core import pipeline, sweep, upgrade  # noqa: F401  # loaded before the first call, whose time is counted
from fse_core.errors import FetchError, InputError, OutOfTime
from service import questions  # noqa: F401
from service.channel import LENGTH, Line, packed


def main() -> None:
    """Ends where the service does: its end of the input is closed then."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    sink.write(b"\0")
    sink.flush()
    while head := source.read(LENGTH):
        work, given, talks = pickle.loads(source.read(int.from_bytes(head, "big")))
        line = Line(source, sink)
        answer = _answer(work, (line, *given) if talks else given)
        line.end()
        sink.write(packed(answer))
        sink.flush()


def _answer(work: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the call came to, in words that a pickle keeps: an exception's arguments are not always its fields."""
    try:
        return "value", work(*given)
    except InputError as error:
        return "input", error.path, error.message
    except FetchError as error:
        return "fetch", error.kind, error.message, error.retry_after
    except OutOfTime as error:
        return "time", error.reason
    except Exception:
        return "fault", traceback.format_exc()


if __name__ == "__main__":
    main()
