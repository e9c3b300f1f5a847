"""`fse fix`: what it proposes was checked again, and the old config is never written to."""

import io
import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fse_core import Target, check
from fse_core.cli import main
from fse_core.read.source import read_model
from fse_core.report import Fix
from tests.linter.checkpoints import APART, HOPELESS, NOT_HEARD, PARENTS, SOUND, UNKNOWN, written
from tests.models import DEEPSEEK, FP8_BLOCK, QUARK_MXFP4
from tests.rules.cases import shared

FUSION = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fix(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        status = main(["fix", *arguments])
    except SystemExit as error:
        status = int(error.code or 0)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def served(out: str) -> list[str]:
    """The command, as a shell reads it."""
    script = "\n".join(line for line in out.splitlines() if not line.startswith("#"))
    return shlex.split(script.replace("\\\n", ""))


def test_a_patched_config_is_written_beside_the_old_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = written(tmp_path / "m", NOT_HEARD)
    old = file.read_bytes()
    status, out, err = fix(capsys, "m")
    assert (status, err) == (0, "")
    assert "# before: breaks: 2 of 2 MoE layers" in out
    assert "# after: does not fuse: 0 of 2 MoE layers" in out
    assert served(out) == []
    assert file.read_bytes() == old
    new = tmp_path / "m" / "config.fse.json"
    assert json.loads(new.read_text())["quantization_config"]["ignored_layers"] == ["lm_head", *shared(3, 4, 5)]
    assert new.read_text().replace("\n", "").startswith(file.read_text().replace("\n", "").partition('"lm_head"')[0])
    assert check(read_model(str(new)), Target()).findings == ()


@pytest.mark.parametrize(
    ("block", "key", "entry"),
    [(FP8_BLOCK, "modules_to_not_convert", "shared_experts"), (QUARK_MXFP4, "exclude", "*shared_experts*")],
)
def test_an_entry_for_all_layers_is_rewritten_for_all(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, block: dict[str, Any], key: str, entry: str
) -> None:
    written(tmp_path / "m", {**DEEPSEEK, "quantization_config": {**block, key: [entry]}})
    assert fix(capsys, "m")[0] == 0
    assert json.loads((tmp_path / "m" / "config.fse.json").read_text())["quantization_config"][key] == shared(3, 4, 5)


def test_what_only_takes_the_evidence_away_is_no_repair(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    hiding = Fix(
        kind="config_patch",
        safety="lossless",
        summary="forget the list",
        patch={"quantization_config": {"ignored_layers": ["lm_head"]}},
    )

    def answer(model: Any, target: Target) -> Any:
        report = check(model, target)
        return replace(report, findings=tuple(replace(one, fixes=(hiding,)) for one in report.findings))

    file = written(tmp_path / "m", NOT_HEARD)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("fse_core.repair.check", answer)
        status, out, err = fix(capsys, "m")
    assert (status, out) == (1, "")
    assert "does not make it better: forget the list" in err
    assert [one.name for one in file.parent.iterdir()] == ["config.json"]
    written(tmp_path / "n", {**DEEPSEEK, "quantization_config": {**FP8_BLOCK, "ignored_layers": ["lm_head"]}})
    assert check(read_model("n"), Target()).verdict == "fuses", "it would look well"


def test_a_diff_is_shown_and_nothing_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    written(tmp_path / "m", NOT_HEARD)
    status, out, _ = fix(capsys, "m", "--diff")
    assert status == 0
    assert f'-      "{PARENTS[0]}",' in out.splitlines()
    assert f'+      "{shared(3)[0]}",' in out.splitlines()
    assert [file.name for file in (tmp_path / "m").iterdir()] == ["config.json"]


def test_a_release_without_a_gate_needs_the_config_and_the_variable(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    written(tmp_path / "m", NOT_HEARD)
    status, out, _ = fix(capsys, "m", "--vllm", "0.28.0", "--tp", "2")
    assert status == 0
    assert (tmp_path / "m" / "config.fse.json").exists()
    words = served(out)
    assert f"{FUSION}=0" in words
    assert words[words.index("vllm") :] == ["vllm", "serve", "m", "--tensor-parallel-size", "2"]
    status, _, err = fix(capsys, "m", "--vllm", "0.28.0", "--by", "launch")
    assert status == 1, "the variable alone would only hide what the release does not hear"
    assert "no fix that may be used makes it better" in err


def test_where_the_list_is_heard_the_variable_is_enough(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    written(tmp_path / "m", APART)
    status, out, _ = fix(capsys, "m", "--vllm", "0.28.0")
    assert status == 0
    assert f"{FUSION}=0" in served(out)
    assert not (tmp_path / "m" / "config.fse.json").exists()


def test_what_changes_numbers_is_not_done_unasked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from tests.output.reports import finding, report

    online = Fix(
        kind="quantization_config",
        safety="changes-numerics",
        summary="quantize online",
        patch={"vllm": "0.32.0", "quantization_config": {"targets": {"*shared*": "mxfp4"}}},
    )
    bad = report(findings=(finding(severity="error", fixes=(online,)),))

    def answer(model: object, target: Target) -> Any:
        return bad if target.overlay is None else report(findings=(), target=target.as_dict())

    written(tmp_path / "m", SOUND)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("fse_core.repair.check", answer)
        status, out, err = fix(capsys, "m")
        assert (status, out) == (1, "")
        assert "not tried (changes-numerics, quantization_config): quantize online" in err
        status, out, err = fix(capsys, "m", "--allow", "changes-numerics")
        assert (status, err) == (0, "")
        assert json.loads(served(out)[-1]) == {"targets": {"*shared*": "mxfp4"}}
        assert fix(capsys, "m", "--allow", "changes-numerics", "--vllm", "0.31.0")[0] == 1, "it needs 0.32.0"


def test_a_fix_that_does_not_make_it_better_is_not_proposed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from tests.output.reports import finding, report

    useless = Fix(kind="flag", safety="lossless", summary="two GPUs", patch={"--tp": 2})
    unknown = Fix(kind="flag", safety="lossless", summary="no such option", patch={"--nothing": 2})
    bad = report(findings=(finding(severity="error", fixes=(useless, unknown)),))
    written(tmp_path / "m", SOUND)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("fse_core.repair.check", lambda model, target: bad)
        status, out, err = fix(capsys, "m")
    assert (status, out) == (1, "")
    assert "does not make it better: two GPUs" in err
    assert "does not make it better: no such option" in err


def test_nothing_to_fix(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    written(tmp_path / "m", SOUND)
    assert fix(capsys, "m")[:2] == (
        0,
        "# nothing to fix: fuses: 2 of 2 MoE layers and 1 of 1 draft layer on gfx942 at tp 1 with vLLM 0.33.0\n",
    )


def test_what_nothing_helps_against(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    written(tmp_path / "m", HOPELESS)
    status, out, err = fix(capsys, "m")
    assert (status, out) == (1, "")
    assert "no fix that may be used makes it better: does not start" in err
    written(tmp_path / "u", UNKNOWN)
    assert fix(capsys, "u")[:2] == (3, "")
    assert fix(capsys, "./none")[:2] == (3, "")


def test_the_config_itself_is_never_written_to(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = written(tmp_path / "m", NOT_HEARD)
    (tmp_path / "link").symlink_to(file)
    old = file.read_bytes()
    for output in ("m/config.json", "./m/../m/config.json", "link"):
        status, out, err = fix(capsys, "m", "-o", output)
        assert (status, out) == (2, "")
        assert "is the config itself" in err
    assert file.read_bytes() == old
    assert fix(capsys, "m", "-o", "no/folder.json")[0] == 3


def test_a_stream_needs_a_place_for_the_config(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments, status in ((["-"], 1), (["-", "--diff"], 0), (["-", "-o", "new.json"], 0)):
        stream = io.TextIOWrapper(io.BytesIO(json.dumps(NOT_HEARD).encode()))
        monkeypatch.setattr(sys, "stdin", stream)
        assert fix(capsys, *arguments)[0] == status
    assert json.loads((tmp_path / "new.json").read_text())["quantization_config"]["ignored_layers"][0] == "lm_head"
