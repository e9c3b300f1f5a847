from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from starlette.testclient import TestClient

from tests.hub_server.fixtures import hub
from tests.service.clients import serving

__all__ = ["hub"]


@pytest.fixture(autouse=True)
def log_of_its_own() -> Iterator[None]:
    """An application that a test starts logs to that test's standard error, which is closed when the test ends."""
    yield
    structlog.reset_defaults()


@pytest.fixture
def client(hub: object, tmp_path: Path) -> Iterator[TestClient]:
    """The application in front of the Hub server."""
    with serving(tmp_path) as started:
        yield started
