"""One JSON object a line on standard error. Neither headers nor query values nor tokens are ever logged."""

import json
import logging
import re
import sys
import time
from collections.abc import MutableMapping
from functools import lru_cache
from typing import Any, Final

import structlog

_TOKEN: Final = re.compile(r"hf_[A-Za-z0-9_.-]{4,}|(?i:bearer)\s+\S+")

log: Any = structlog.get_logger("fse")

_access: bool = True


def configure(level: str) -> None:
    """Sends this service's lines, and those of the libraries below it, to standard error."""
    global _access  # noqa: PLW0603
    number = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
    _access = number <= logging.INFO
    shared: list[Any] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        without_secrets,
    ]
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, *shared, structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.JSONRenderer()],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=max(number, logging.WARNING), handlers=[handler], force=True)
    for name in ("uvicorn", "uvicorn.error"):
        library = logging.getLogger(name)
        library.handlers, library.propagate = [], True
        library.setLevel(number)


def access(request_id: str, method: str, path: str, status: int, seconds: float) -> None:
    """The line for a request, like the others in form. It is put together by hand: there is one for every request."""
    if not _access:
        return
    shown = json.dumps(_TOKEN.sub("[token]", path[:500]))
    sys.stderr.write(
        f'{{"id": "{request_id}", "method": "{method}", "path": {shown}, "status": {status}, '
        f'"ms": {seconds * 1000:.2f}, "event": "request", "level": "info", "timestamp": "{_now()}"}}\n'
    )


def _now() -> str:
    now = time.time()
    return f"{_second(int(now))}.{int(now % 1 * 1e6):06d}Z"


@lru_cache(8)
def _second(now: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))


def without_secrets(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The event with whatever looks like a token taken out, should one get into a message."""
    for key, value in event.items():
        if isinstance(value, str) and _TOKEN.search(value):
            event[key] = _TOKEN.sub("[token]", value)
    return event
