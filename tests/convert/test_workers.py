"""Several processes write the same bytes as one, and one that is lost loses nothing."""

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("torch")

from fse_core.convert.disk import CannotWrite
from fse_core.convert.plan import make_plan
from fse_core.convert.run import run
from tests.convert.conftest import Counter
from tests.convert.tiny import Tiny, tree


class Killer(Counter):
    """Kills a process when it has heard from it, as often as it is told."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def advance(self, count: int) -> None:
        super().advance(count)
        if count > 0 and self.times and (children := multiprocessing.active_children()):
            self.times -= 1
            for child in children:
                assert child.pid is not None
                os.kill(child.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Tiny(hidden=256, width=256, layers=3).write(tmp_path_factory.mktemp("large") / "in")


@pytest.fixture(scope="module")
def expected(large: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("expected") / "out"
    run(make_plan(large), out, Counter())
    return tree(out)


def test_a_worker_that_is_killed(large: Path, tmp_path: Path, expected: dict[str, bytes]) -> None:
    killer = Killer(times=1)
    run(make_plan(large), tmp_path / "out", killer, workers=2)
    assert tree(tmp_path / "out") == expected
    assert killer.losses
    assert all(lost.again and lost.exit_code == -signal.SIGKILL for lost in killer.losses)
    assert killer.done == killer.total
    assert not multiprocessing.active_children()


def test_workers_that_are_killed_again_and_again(
    large: Path, tmp_path: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fse_core.convert.workers._TRIES", 2)
    out = tmp_path / "out"
    with pytest.raises(CannotWrite, match="2 processes were lost while they wrote it, the last with exit code -9"):
        run(make_plan(large), out, Killer(times=10**6), workers=2)
    assert not multiprocessing.active_children()
    run(make_plan(large), out, Counter())
    assert tree(out) == expected


def test_an_error_of_a_worker(large: Path, tmp_path: Path, expected: dict[str, bytes]) -> None:
    """What a worker cannot write is told as if it were this process."""
    out, plan = tmp_path / "out", make_plan(large)
    blocked = out / ".fse-convert" / f"{plan.shards[0].name}.part"
    blocked.mkdir(parents=True)
    with pytest.raises(CannotWrite, match="cannot be written: Is a directory"):
        run(plan, out, Counter(), workers=2)
    blocked.rmdir()
    run(plan, out, Counter())
    assert tree(out) == expected
