"""Numbers for Prometheus. Labels are route patterns and statuses: never a model's name, never a client."""

import os
from functools import lru_cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS"})


class Metrics:
    """The numbers of this process; of all workers where PROMETHEUS_MULTIPROC_DIR names a folder for them."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        registry = None if "PROMETHEUS_MULTIPROC_DIR" in os.environ else self._registry
        self._requests = Counter("fse_requests", "Requests answered.", ("method", "route", "status"), registry=registry)
        self._seconds = Histogram(
            "fse_request_seconds", "Seconds to answer.", ("route",), registry=registry, buckets=_BUCKETS
        )
        self._counters = lru_cache(1024)(self._requests.labels)
        self._timers = lru_cache(256)(self._seconds.labels)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._counters(method if method in _METHODS else "other", route, str(status)).inc()
        self._timers(route).observe(seconds)

    def text(self) -> bytes:
        """The exposition format."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
