"""The logs that the releases themselves print, with what they built beside: see conformance/logs.py."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.logs import LOGS, Log, truth
from fse_core.doctor.examine import Question, examine
from fse_core.doctor.log.files import opened
from fse_core.doctor.log.tally import Tally
from fse_core.doctor.result import Diagnosis, LogReport, Machine, Said
from fse_core.read.model import Model
from fse_core.read.source import model_from_dict

BUILT = truth()
BY_NAME = {log.name: log for log in LOGS}
WORDS = {"fused", "separate", "failed", "unknown"}


def diagnosis(log: Log, file: Path | None = None) -> Diagnosis:
    """What the doctor says of the log and the model, knowing the GPU and nothing else."""
    tally = Tally()
    with opened(str(file or log.file), "--log") as readable:
        tally.read(readable)

    def read(name: str) -> Model:
        assert name == log.model
        return model_from_dict(log.config(), id=name)

    machine = Machine(versions={}, gpus=(), plugin="absent")
    return examine(Question(machine=machine, read=read, environment={}, gfx=log.target.gfx), None, tally, "x.log")


def report(log: Log, file: Path | None = None) -> LogReport:
    found = diagnosis(log, file).log
    assert found is not None
    return found


def alone(file: Path) -> LogReport:
    """What the doctor says of a log of which nothing is known."""
    tally = Tally()
    with opened(str(file), "--log") as readable:
        tally.read(readable)
    machine = Machine(versions={}, gpus=(), plugin="absent")
    found = examine(
        Question(machine=machine, read=lambda name: model_from_dict({}, id=name), environment={}), None, tally
    )
    assert found.log is not None
    return found.log


def refusals(found: LogReport) -> list[Said]:
    return [said for said in found.said if said.kind == "refused"]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_the_verdict_is_what_was_built_and_as_predicted(log: Log) -> None:
    found = diagnosis(log)
    assert found.log is not None
    assert found.report is not None
    assert found.vllm == found.log.version == log.target.vllm
    assert found.report.target["tp"] == log.target.tp
    assert found.log.match in ("matches", "not_contradicted"), found.log.difference
    built = BUILT[log.name]
    match found.log.fused:
        case "fused":
            assert built["fused"]
            assert not built["separate"]
        case "separate":
            assert built["separate"]
            assert not built["fused"]
        case "unknown":  # before 0.29.0 nothing is said of what is fused
            assert found.report.verdict in ("fuses", "breaks")
            assert built["fused"]
            assert not built["separate"]
        case other:
            assert other == "failed"
            assert found.report.verdict == "fails"


def test_there_are_enough_of_them() -> None:
    assert len(LOGS) >= 12
    assert {log.target.vllm for log in LOGS} >= {f"0.{minor}.0" for minor in range(24, 34)}
    assert {report(log).fused for log in LOGS} == WORDS


@pytest.mark.parametrize("release", ["0.29.0", "0.33.0"])
def test_464_warnings_of_eight_ranks_are_one_thing(release: str) -> None:
    (said,) = refusals(report(BY_NAME[f"{release}-r1-mxfp4-eight-ranks"]))
    assert said.count == 464
    assert said.layers == tuple(range(3, 61))
    assert said.processes == tuple(f"Worker_TP{rank}" for rank in range(8))
    assert said.text == "Quark excludes shared experts at model.layers.*.mlp.shared_experts"


def test_colours_change_nothing() -> None:
    log = BY_NAME["0.31.0-r1-mxfp4-colors"]
    assert b"\x1b[" in gzip.decompress(log.file.read_bytes())
    (said,) = refusals(report(log))
    assert (said.count, len(said.layers), said.processes) == (116, 58, ("Worker_TP0", "Worker_TP1"))


def altered(log: Log, folder: Path, *changes: tuple[bytes, bytes]) -> Path:
    data = gzip.decompress(log.file.read_bytes())
    for old, new in changes:
        assert old in data
        data = data.replace(old, new)
    (folder / "x.log").write_bytes(data)
    return folder / "x.log"


def test_another_reason_is_a_difference(tmp_path: Path) -> None:
    log = BY_NAME["0.33.0-r1-mxfp4-eight-ranks"]
    other = altered(log, tmp_path, (b"layers.7.mlp.shared_experts", b"layers.7.mlp.other"))
    found = report(log, other)
    assert found.match == "differs"
    assert found.difference is not None
    assert "layers.*.mlp.other" in found.difference
    assert "refusals of layers 7" in found.difference


def test_a_refusal_that_was_not_predicted_is_a_difference(tmp_path: Path) -> None:
    warnings = gzip.decompress(BY_NAME["0.33.0-r1-mxfp4-eight-ranks"].file.read_bytes())
    (tmp_path / "x.log").write_bytes(warnings)
    found = report(BY_NAME["0.33.0-r1-mxfp4-fuses"], tmp_path / "x.log")
    assert (found.fused, found.match) == ("separate", "differs")
    assert "no refusal was predicted" in str(found.difference)


def test_a_refusal_that_is_missing_is_a_difference(tmp_path: Path) -> None:
    silent = gzip.decompress(BY_NAME["0.33.0-r1-mxfp4-fuses"].file.read_bytes())
    (tmp_path / "x.log").write_bytes(silent)
    found = report(BY_NAME["0.33.0-r1-mxfp4-eight-ranks"], tmp_path / "x.log")
    assert (found.fused, found.match) == ("unknown", "differs")


def test_a_failure_that_was_not_predicted_is_a_difference(tmp_path: Path) -> None:
    failed = gzip.decompress(BY_NAME["0.33.0-mori"].file.read_bytes())
    (tmp_path / "x.log").write_bytes(failed)
    log = BY_NAME["0.33.0-r1-fp8"]
    (tmp_path / "y.log").write_bytes(failed.replace(b"AssertionError: Mori", b"MemoryError: Mori"))
    assert report(BY_NAME["0.33.0-mori"], tmp_path / "y.log").match == "differs"
    assert report(log, log.file).match == "matches"


def cuts(data: bytes) -> Iterator[int]:
    yield from range(0, len(data), max(1, len(data) // 60))


@pytest.mark.parametrize("name", ["0.33.0-r1-mxfp4-eight-ranks", "0.29.0-layers-disagree", "0.33.0-r1-fp8"])
def test_wherever_a_log_is_cut_it_is_read_and_nothing_is_contradicted(name: str, tmp_path: Path) -> None:
    log = BY_NAME[name]
    data = gzip.decompress(log.file.read_bytes())
    for cut in cuts(data):
        (tmp_path / "x.log").write_bytes(data[:cut])
        found = diagnosis(log, tmp_path / "x.log").log
        assert found is not None
        assert found.size == cut
        if cut > len(data) // 2 and name.startswith("0.33.0-r1-mxfp4"):
            assert found.match == "matches", (cut, found.difference)


def test_a_compressed_log_that_is_cut_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    log = BY_NAME["0.33.0-r1-mxfp4-eight-ranks"]
    (tmp_path / "x.log.gz").write_bytes(log.file.read_bytes()[:2500])
    found = report(log, tmp_path / "x.log.gz")
    assert 0 < found.size < 130_000
    assert refusals(found)


@pytest.mark.parametrize("count", [2, 9, 57])
def test_a_start_that_is_cut_among_its_refusals_is_not_partly_fused(count: int, tmp_path: Path) -> None:
    log = BY_NAME["0.31.0-r1-mxfp4-colors"]
    lines = gzip.decompress(log.file.read_bytes()).splitlines(keepends=True)
    said = [at for at, line in enumerate(lines) if b"cannot be enabled" in line and b"TP0" in line]
    assert len(said) == 58
    own = [line for at, line in enumerate(lines[: said[count - 1] + 1]) if b"TP1" not in line]
    (tmp_path / "x.log").write_bytes(b"".join(own))
    found = report(log, tmp_path / "x.log")
    assert (found.stage, found.fused, found.match) == ("built", "unknown", "not_contradicted")
    assert found.why.endswith("ends before all layers are built")


@pytest.mark.parametrize(
    "data",
    [b"", bytes(range(256)) * 50, b'Traceback (most recent call last):\n  File "x.py", line 1, in x\nKeyError: 1\n'],
)  # fmt: skip
def test_what_is_no_log_of_vllms_is_told(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.log").write_bytes(data)
    found = alone(tmp_path / "x.log")
    assert (found.fused, found.match) == ("unknown", "unknown")
    assert "no log of vLLM's" in found.why


def test_a_traceback_through_vllm_is_one_of_its_logs(tmp_path: Path) -> None:
    frame = b'  File "/usr/lib/python3.12/site-packages/vllm/__init__.py", line 1, in <module>\n'
    (tmp_path / "x.log").write_bytes(b"Traceback (most recent call last):\n" + frame + b"KeyError: 1\n")
    assert alone(tmp_path / "x.log").fused == "failed"


def test_a_compressed_log_that_is_cut_or_damaged_is_told_of(tmp_path: Path) -> None:
    log = BY_NAME["0.33.0-r1-mxfp4-eight-ranks"]
    whole = log.file.read_bytes()
    for data, told in ((whole, False), (whole + whole, False), (whole[:2500], True), (whole[:-3], True)):
        (tmp_path / "x.log.gz").write_bytes(data)
        problems = [problem.message for problem in diagnosis(log, tmp_path / "x.log.gz").problems]
        assert any("ends too early" in message for message in problems) is told
