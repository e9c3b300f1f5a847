"""Two conversions into one folder, one that is interrupted, and one that is killed while its processes go on."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

pytest.importorskip("torch")

from fse_core.convert import lock
from fse_core.convert.disk import CannotWrite
from fse_core.convert.journal import FOLDER, Journal
from fse_core.convert.lock import Lock
from fse_core.convert.plan import MANIFEST, make_plan
from fse_core.convert.run import run
from tests.convert.conftest import Counter
from tests.convert.tiny import Tiny, tree

_COMMAND = (sys.executable, "-c", "import sys; from fse_core.cli import run; run()", "convert")
_WAIT = 60.0
PART = "model-00001-of-00004.safetensors.part"
"""Is there while a shard is written anew."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Tiny(hidden=512, width=512, layers=3).write(tmp_path_factory.mktemp("large") / "in")


@pytest.fixture(scope="module")
def expected(large: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("expected") / "out"
    run(make_plan(large), out, Counter())
    return tree(out)


_INTERRUPTIBLE = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)
"""What is run in the background ignores Ctrl-C, and so would all that it starts."""


@pytest.fixture
def start(large: Path, tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Begins `fse convert` into `out`, in a group of its own as a terminal's."""
    begun: list[subprocess.Popen[str]] = []

    def begin(*options: str) -> "subprocess.Popen[str]":
        given = [str(large), "--out", str(tmp_path / "out"), "--device", "cpu", *options]
        words = [sys.executable, "-c", _INTERRUPTIBLE, *_COMMAND, *given]
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        begun.append(process)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + _WAIT
    while not holds():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)


def children(process: "subprocess.Popen[str]") -> set[int]:
    """Those that are alive in the process's group, without itself."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(group) == process.pid and state != "Z":
            found.add(int(folder.name))
    return found - {process.pid}


def test_a_second_run_at_the_same_time(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_PATIENCE", 0.0)
    plan, out = make_plan(source), tmp_path / "out"
    other = make_plan(Tiny("glm").write(tmp_path / "other"))

    class Second(Counter):
        def begin(self, total: int) -> None:
            before = tree(out)
            for second in (plan, other):
                with pytest.raises(CannotWrite, match=f"writing here: process {os.getpid()} on .+, since 2"):
                    run(second, out, Counter())
            assert tree(out) == before

    run(plan, out, Second())
    run(plan, tmp_path / "alone", Counter())
    assert tree(out) == tree(tmp_path / "alone")


def test_two_commands_at_the_same_time(
    start: Callable[..., "subprocess.Popen[str]"], tmp_path: Path, expected: dict[str, bytes]
) -> None:
    """Each either converts, finds it done, or says who is at work; never anything else."""
    both = [start(), start()]
    errors = [process.communicate(timeout=_WAIT)[1] for process in both]
    assert tree(tmp_path / "out") == expected
    for process, other, error in zip(both, reversed(both), errors, strict=True):
        assert process.returncode in (0, 3)
        busy = f"fse: {tmp_path / 'out'}: another fse convert is writing here: process {other.pid} on "
        assert error.startswith(busy) if process.returncode else error == ""
    assert 0 in [process.returncode for process in both]


def test_a_lock_of_a_process_that_is_gone(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / FOLDER).mkdir(parents=True)
    (out / FOLDER / "lock").write_text("process 1 on here, since ever\n")
    run(make_plan(source), out, Counter())
    assert not (out / FOLDER).exists()


def test_one_that_ends_while_another_waits(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock that it waited for is gone with its folder: what it finds is a finished conversion."""
    plan, out = make_plan(source), tmp_path / "out"
    run(plan, out, Counter())
    finished = tree(out)
    shutil.rmtree(out)
    pauses: list[float] = []
    first = Journal(out)
    out.mkdir()
    with first.locked():

        def ended(seconds: float) -> None:
            pauses.append(seconds)
            first.remove()
            for name, data in finished.items():
                (out / name).parent.mkdir(exist_ok=True)
                (out / name).write_bytes(data)

        monkeypatch.setattr("fse_core.convert.lock.time.sleep", ended)
        assert run(plan, out, Counter()).keys() == make_plan(source).checkpoint.files.keys()
    assert len(pauses) == 1
    assert tree(out) == finished


def _hold(held: Lock, connection: Connection) -> None:
    connection.send(os.fstat(held.file).st_ino)
    connection.recv()


def test_the_lock_lasts_as_long_as_any_process_that_was_handed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_PATIENCE", 0.0)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    journal = Journal(tmp_path)
    with journal.locked() as held:
        process = context.Process(target=_hold, args=(held, theirs))
        process.start()
        assert ours.recv() == os.fstat(held.file).st_ino
    with pytest.raises(CannotWrite, match="another fse convert is writing here"), journal.locked():
        pass
    ours.send(None)
    process.join()
    assert process.exitcode == 0
    with journal.locked():
        pass


@pytest.mark.parametrize("workers", ["1", "3"])
@pytest.mark.parametrize("moment", ["plan", PART])
def test_an_interruption(
    start: Callable[..., "subprocess.Popen[str]"],
    large: Path,
    tmp_path: Path,
    expected: dict[str, bytes],
    workers: str,
    moment: str,
) -> None:
    """Ctrl-C reaches the whole group, also processes that are just beginning. It is told in one line."""
    process, out = start("--workers", workers), tmp_path / "out"
    until(lambda: (out / FOLDER / moment).exists() or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)
    told, error = process.communicate(timeout=_WAIT)
    assert (process.returncode, told) == (130, "")
    assert error == "fse: interrupted: the same command goes on where it stopped\n"
    until(lambda: not children(process))
    run(make_plan(large), out, Counter())
    assert tree(out) == expected


def test_a_parent_that_is_killed(
    start: Callable[..., "subprocess.Popen[str]"], large: Path, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    """Its processes end at once, and a run that begins before they did waits for them."""
    process, out = start("--workers", "3"), tmp_path / "out"
    until(lambda: (out / FOLDER / PART).exists() or process.poll() is not None)
    assert len(children(process)) >= 3
    process.kill()
    assert not (out / MANIFEST).exists()
    run(make_plan(large), out, Counter())
    until(lambda: not children(process))
    assert tree(out) == expected


def test_another_may_take_the_lock_while_what_is_done_is_cleared_away(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, remove = tmp_path / "out", os.rmdir

    def rmdir(folder: Path) -> None:
        (folder / lock.NAME).touch()  # as by one that waited for it
        remove(folder)

    with monkeypatch.context() as patched:
        patched.setattr("fse_core.convert.disk.os.rmdir", rmdir)
        run(make_plan(large), out, Counter())
    assert [path.name for path in (out / FOLDER).iterdir()] == [lock.NAME]
    run(make_plan(large), out, Counter())
    assert not (out / FOLDER).exists()


def test_where_files_are_ever_others_the_lock_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_PATIENCE", 0.1)
    monkeypatch.setattr("fse_core.convert.lock.os.path.samestat", lambda *_: False)
    with pytest.raises(CannotWrite, match="is ever another file"), lock.locked(tmp_path / "journal", tmp_path):
        raise AssertionError("it has been taken")
