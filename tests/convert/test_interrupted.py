"""A run that ends at any write, by a kill or a full disk, goes on where it stopped and gives the same bytes."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from fse_core.convert import disk
from fse_core.convert.disk import CannotWrite
from fse_core.convert.plan import Plan, make_plan
from fse_core.convert.run import run
from tests.convert.conftest import Counter
from tests.convert.tiny import Tiny, tree

CHANGING = ("write", "copy_file_range", "fsync", "replace", "link", "unlink", "mkdir", "rmdir", "open")


class Killed(BaseException):
    """The process is gone."""


class Faulty:
    """The system, until its `limit`-th change: there it does half of a write, and nothing after it."""

    def __init__(self, limit: int, error: BaseException) -> None:
        self.limit, self.error, self.count = limit, error, 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CHANGING:
            return real

        def change(*args: Any) -> Any:
            if name == "open" and not args[1] & os.O_CREAT:
                return real(*args)
            self.count += 1
            if self.count < self.limit:
                return None if name == "fsync" else real(*args)  # which takes long, and changes nothing that is seen
            if self.count == self.limit and name == "write":
                real(args[0], args[1][: len(args[1]) // 2])
            if self.count == self.limit and name == "copy_file_range":
                real(*args[:2], args[2] // 2, args[3])
            raise self.error

        return change


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return make_plan(Tiny(layers=1, family="qwen").write(tmp_path_factory.mktemp("in")))


@pytest.fixture(scope="module")
def expected(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("expected") / "out"
    run(plan, out, Counter())
    return tree(out)


@pytest.fixture(scope="module")
def changes(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many changes an undisturbed run makes."""
    with pytest.MonkeyPatch.context() as patch:
        system = Faulty(10**9, Killed())
        patch.setattr(disk, "os", system)
        run(plan, tmp_path_factory.mktemp("changes") / "out", Counter())
    return system.count


@pytest.mark.parametrize("error", [Killed(), OSError(errno.ENOSPC, "No space left on device")], ids=["killed", "full"])
def test_at_every_change(
    plan: Plan, tmp_path: Path, expected: dict[str, bytes], changes: int, error: BaseException
) -> None:
    before = tree(plan.checkpoint.folder)
    left: list[int] = []
    assert changes > 50
    for limit in range(1, changes + 1):
        out, counter = tmp_path / str(limit), Counter()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(disk, "os", Faulty(limit, error))
            with pytest.raises((Killed, CannotWrite)) as caught:
                run(plan, out, Counter())
            assert isinstance(error, Killed) or "goes on where it stopped" in str(caught.value)
            if out.exists() and "config.json" in tree(out):
                assert set(expected) - {"fse-convert.json", "SHA256SUMS"} <= set(tree(out)), "the config comes last"
            patch.setattr(disk, "os", Faulty(10**9, error))
            run(plan, out, counter)
        assert tree(out) == expected, f"interrupted at change {limit}"
        assert counter.done == counter.total
        left.append(counter.total)
    assert left == sorted(left, reverse=True), "what is finished is not done again"
    assert left[-1] == 0
    assert tree(plan.checkpoint.folder) == before


def test_a_source_that_changed_meanwhile(tmp_path: Path) -> None:
    source = Tiny().write(tmp_path / "in")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "os", Faulty(30, Killed()))
        with pytest.raises(Killed):
            run(make_plan(source), tmp_path / "out", Counter())
    (source / "tokenizer.json").write_text('{"other": 1}\n')
    with pytest.raises(CannotWrite, match="unfinished conversion of another source"):
        run(make_plan(source), tmp_path / "out", Counter())


def test_a_real_limit(plan: Plan, tmp_path: Path, expected: dict[str, bytes]) -> None:
    """The system refuses to let a file grow: a clear error, an untouched source, and a second run that finishes."""
    source, out = plan.checkpoint.folder, tmp_path / "out"
    before = tree(source)
    ended = subprocess.run([sys.executable, "-c", _LIMITED, source, out], capture_output=True, text=True, check=False)
    assert ended.returncode == 3, ended.stderr
    assert "cannot be written: File too large" in ended.stderr
    assert "goes on where it stopped" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert tree(source) == before
    run(plan, out, Counter())
    assert tree(out) == expected


_LIMITED = """
import resource, sys
from fse_core.cli import main
import torch
resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))
sys.exit(main(["convert", sys.argv[1], "--out", sys.argv[2]]))
"""


class Elsewhere:
    """A system whose file systems cannot copy between each other."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def copy_file_range(self, *_: Any) -> int:
        raise OSError(errno.EXDEV, "Invalid cross-device link")


def test_where_the_system_cannot_copy(
    plan: Plan, tmp_path: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "os", Elsewhere())
    run(plan, tmp_path / "out", Counter())
    assert tree(tmp_path / "out") == expected
