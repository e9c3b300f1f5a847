"""`fse convert` and `fse verify` on the command line."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")

from fse_core.cli import main
from fse_core.convert.progress import Bar, amount
from tests.convert.test_experts import fp8_shared
from tests.convert.tiny import tree


def test_convert_and_verify(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["convert", str(source), "--out", str(out), "--device", "cpu"]) == 0
    told, errors = capsys.readouterr()
    assert errors == ""
    assert "layers 0-1: BF16 to mxfp4" in told
    assert "vLLM 0.29.0 fuses it" in told
    assert "files: 2 rewritten, 2 patched, 1 linked, 2 copied" in told
    assert f"converted to {out}; the largest relative squared error is 0.01" in told
    assert main(["verify", str(out)]) == 0
    told, errors = capsys.readouterr()
    assert errors == ""
    assert told.splitlines()[-1] == "whole: 7 files, 6 by their sums, 6 converted tensors; 5 of 5 releases fuse it"
    assert main(["verify", str(out), "--vllm", "0.33.0", "--gfx", "gfx90a"]) == 1
    assert "vLLM 0.33.0 does not fuse it" in capsys.readouterr().out
    assert main(["verify", str(out), "--tp", "3"]) == 1
    assert capsys.readouterr().out.endswith("; 0 of 5 releases fuse it\n")


def test_a_dry_run_changes_nothing(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(source)
    assert main(["convert", str(source), "--out", str(tmp_path / "out"), "--dry-run"]) == 0
    assert "6 tensors in 2 shards" in (told := capsys.readouterr().out)
    assert told.endswith("dry run: nothing was written\n")
    assert list(tmp_path.iterdir()) == []
    assert tree(source) == before


def test_the_error_of_each_layer_where_precision_is_lost_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = fp8_shared(tmp_path / "in")
    command = ["convert", str(source), "--out", str(tmp_path / "out")]
    assert main(command) == 3
    assert "--accept-loss does it all the same" in capsys.readouterr().err
    assert main([*command, "--accept-loss"]) == 0
    told = capsys.readouterr().out
    assert "layers 0-1: fp8_block to mxfp4" in told
    assert "layer 0: relative squared error 0.0" in told
    assert "layer 1: relative squared error 0.0" in told


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--workers", "0"], "expected a number from 1 to 256"),
        (["--workers", "x"], "expected a number from 1 to 256"),
        (["--device", "tpu"], "invalid choice"),
        (["--out", ""], "argument --out: expected the name of a folder, got ''"),
    ],
)
def test_a_wrong_command_line(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["convert", str(source), "--out", str(tmp_path / "out"), *options])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_refusals(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(tmp_path / "none"), "--out", str(tmp_path / "out")]) == 3
    assert "expected a checkpoint folder" in capsys.readouterr().err
    assert main(["convert", str(source), "--out", str(source)]) == 3
    assert "the source is never written to" in capsys.readouterr().err
    assert main(["verify", str(source)]) == 3
    assert "it is no finished conversion" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(source), "--vllm", "old"])
    assert ended.value.code == 2
    capsys.readouterr()
    for unknown in ("9.9", "0.33.0rc1"):
        with pytest.raises(SystemExit) as ended:
            main(["verify", str(source), "--vllm", unknown])
        assert ended.value.code == 2
        assert f"vLLM {unknown} is not known; those that are: 0.11.1, " in capsys.readouterr().err


def test_a_source_without_a_shard(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(shutil.copytree(source, tmp_path / "in"))
    (folder / "model-00002-of-00003.safetensors").write_bytes(b"")
    assert main(["convert", str(folder), "--out", str(tmp_path / "out")]) == 3
    assert "model-00002-of-00003.safetensors: is no safetensors file" in capsys.readouterr().err


def test_progress_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("fse_core.convert.progress._EVERY", 0.0)
    silent = Bar()
    silent.begin(2000)
    silent.advance(1000)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    bar = Bar()
    bar.begin(2000)
    bar.advance(1000)
    line = capsys.readouterr().err
    assert " 50 %  1.0 kB of 2.0 kB" in line
    assert line.endswith(" left")
    bar.end()
    assert capsys.readouterr().err == "\r\x1b[K"


@pytest.mark.parametrize(("count", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (5_123_456_789, "5.1 GB")])
def test_amounts(count: int, text: str) -> None:
    assert amount(count) == text
