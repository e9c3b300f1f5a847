"""Small checkpoints that tests share, and a watcher that only counts."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fse_core.convert.workers import Lost
from tests.convert.tiny import Tiny


@dataclass
class Counter:
    """Counts what it is told."""

    total: int = 0
    done: int = 0
    losses: list[Lost] = field(default_factory=list)

    def begin(self, total: int) -> None:
        self.total = total

    def advance(self, count: int) -> None:
        self.done += count

    def lost(self, what: Lost) -> None:
        self.losses.append(what)


@pytest.fixture
def counter() -> Counter:
    return Counter()


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Quark MXFP4 checkpoint; no test changes it."""
    return Tiny().write(tmp_path_factory.mktemp("source") / "model")
