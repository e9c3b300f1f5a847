from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from starlette.testclient import TestClient

from tests.hub_server import HubServer
from tests.hub_server.fixtures import environment
from tests.hub_server.fixtures import hub as hub_of_this_process
from tests.service.clients import serving

__all__ = ["hub_of_this_process"]


@pytest.fixture
def hub(hub_of_this_process: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HubServer:
    """The Hub server, for the processes that the service starts, too."""
    for name, value in environment(hub_of_this_process, tmp_path / "hf-home").items():
        monkeypatch.setenv(name, value)
    return hub_of_this_process


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
