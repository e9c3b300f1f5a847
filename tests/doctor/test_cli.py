"""`fse doctor` as it is called: words, scripts, logs, exit statuses, and both formats."""

import gzip
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.logs import LOGS
from fse_core.cli import main
from tests.output.schemas import validator

ROOT = Path(__file__).resolve().parents[2]
R1 = str(ROOT / "examples" / "amd--DeepSeek-R1-MXFP4")
ON = "VLLM_ROCM_USE_AITER=1 VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS=1"
BY_NAME = {log.name: log for log in LOGS}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AITER", "AITER_MOE", "AITER_FUSION_SHARED_EXPERTS"):
        monkeypatch.delenv(f"VLLM_ROCM_USE_{name}", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def doctor(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, dict[str, Any]]:
    status = main(["doctor", *args, "--format", "json"] if "--" not in args else ["doctor", "--format", "json", *args])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    validator("doctor").validate(found)
    return status, found


def test_a_command_that_fuses(capsys: pytest.CaptureFixture[str]) -> None:
    status, found = doctor(capsys, "--source", R1, "--gfx", "gfx950", f"{ON} vllm serve amd/DeepSeek-R1-MXFP4 -tp 8")
    assert status == 0
    assert found["report"]["verdict"] == "fuses"
    assert found["gfx"] == {"name": "gfx950", "from": "option"}
    values = {one["name"]: (one["value"], one["origin"]) for one in found["variables"]}
    assert values["VLLM_ROCM_USE_AITER"] == ("1", "command")
    assert values["VLLM_ROCM_USE_AITER_MOE"] == ("1", "default")


def test_words_after_the_dashes_and_variables_of_this_process(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ("--source", R1, "--", "vllm", "serve", "amd/DeepSeek-R1-MXFP4", "-tp", "8")
    status, found = doctor(capsys, *line)
    assert (status, found["report"]["verdict"], found["report"]["requested"]) == (0, "separate", False)
    monkeypatch.setenv("VLLM_ROCM_USE_AITER", "1")
    monkeypatch.setenv("VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS", "true")
    status, found = doctor(capsys, *line)
    assert found["report"]["verdict"] == "fuses"
    assert {one["origin"] for one in found["variables"] if one["value"] == "true"} == {"environment"}


def test_a_container_does_not_see_this_process(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_ROCM_USE_AITER", "1")
    monkeypatch.setenv("VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS", "1")
    line = "docker run {} vllm/vllm-openai-rocm:v0.32.0 amd/DeepSeek-R1-MXFP4 -tp 8"
    _, found = doctor(capsys, "--source", R1, line.format(""))
    assert not found["report"]["requested"]
    assert found["vllm"] == {"version": "0.32.0", "from": "image"}
    passed = "-e VLLM_ROCM_USE_AITER -e VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"
    assert doctor(capsys, "--source", R1, line.format(passed))[1]["report"]["verdict"] == "fuses"


def test_a_model_with_options(capsys: pytest.CaptureFixture[str]) -> None:
    on = [word for pair in ON.split() for word in ("--env", pair)]
    status, found = doctor(capsys, R1, "--tp", "8", "--gfx", "gfx950", "--vllm", "0.31.0+rocm722", *on)
    assert (status, found["report"]["verdict"], found["launch"]) == (0, "fuses", None)
    assert found["vllm"] == {"version": "0.31.0+rocm722", "from": "option"}
    assert found["problems"] == []


def test_a_script(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"#!/bin/bash\nset -e\nexport {ON}\nexec vllm serve $MODEL \\\n  --tensor-parallel-size 8\n"
    (tmp_path / "launch.sh").write_text(f"MODEL={R1}\n{text}")
    assert doctor(capsys, "--script", str(tmp_path / "launch.sh"))[1]["report"]["verdict"] == "fuses"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"MODEL={R1}\n{text}".encode())))
    assert doctor(capsys, "--script", "-")[1]["launch"]["model"] == R1


def test_overrides_of_the_config(capsys: pytest.CaptureFixture[str]) -> None:
    line = f"{ON} vllm serve {R1} -tp 8 --hf-overrides.n_shared_experts null --hf-overrides.num_hidden_layers 5"
    assert doctor(capsys, line)[1]["report"]["model"]["layers"] == 5
    excluded = f"{ON} vllm serve {R1} -tp 8 --hf-overrides.quantization_config.exclude+ 're:.*shared_experts.*'"
    assert doctor(capsys, excluded)[1]["report"]["verdict"] == "separate"


@pytest.mark.parametrize(("flag", "verdict"), [("quark", "fuses"), ("fp8", "undecided")])
def test_another_quantization_is_not_guessed_at(flag: str, verdict: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = doctor(capsys, f"{ON} vllm serve {R1} -tp 8 --quantization {flag}")
    assert found["report"]["verdict"] == verdict
    assert status == (0 if verdict == "fuses" else 3)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["vllm serve no/such -tp 8"], 3),
        ([f"vllm serve {R1} --foo"], 1),
        ([f"{ON} vllm serve {R1} -dp 8 -ep --all2all-backend mori_high_throughput"], 1),
        ([], 0),
    ],
)
def test_exit_statuses(words: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor(capsys, *words)[0] == status


@pytest.mark.parametrize(
    "words",
    [
        ["ls -l"],
        ["vllm serve 'm"],
        ["--script", "/no/such"],
        ["--script", "-", "m"],
        ["vllm serve m", "--tp", "8"],
        ["m", "--vllm", "zero"],
        ["m", "--vllm", "0.1.0"],
        ["org/a", "org/b"],
        ["m", "--log", "a", "--log", "b"],
        ["--script", "a", "--script", "b"],
        ["m", "--source", "a", "--source", "b"],
        ["--script", "-", "--log", "-"],
    ],
)
def test_a_wrong_command_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", *words])
    assert ended.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("size", ["0", "65537", "9" * 30, "9" * 5000, "x", "8.0", "-1", ""])
def test_a_size_that_no_server_has(size: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where the command says it, which then is an error of the command's."""
    for words in (["doctor", R1, f"--tp={size}"], ["check", R1, f"--tp={size}"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        assert "expected a number of GPUs from 1 to 65536, got '" in (told := capsys.readouterr().err)
        assert len(told) < 2000
    status, found = doctor(capsys, f"{ON} vllm serve {R1} -tp={size}")
    assert status == 1
    assert "--tensor-parallel-size: expected a number from 1 to 65536" in found["launch"]["problems"][0]["message"]


def test_a_log_that_is_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in (tmp_path / "none.log", tmp_path):
        assert main(["doctor", "--log", str(name)]) == 3
        assert "cannot read" in capsys.readouterr().err


def test_a_log_from_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    log = BY_NAME["0.33.0-r1-mxfp4-eight-ranks"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(log.file.read_bytes())))
    status, found = doctor(capsys, "--log", "-")
    assert status == 3  # the model is not to be had here, and nothing is claimed
    assert found["vllm"] == {"version": "0.33.0", "from": "log"}
    assert (found["log"]["fused"], found["log"]["match"]) == ("separate", "unknown")
    assert found["launch"]["model"] == "amd/DeepSeek-R1-MXFP4"


def test_the_same_log_of_another_model_is_a_difference(capsys: pytest.CaptureFixture[str]) -> None:
    status, found = doctor(capsys, "--log", str(BY_NAME["0.33.0-r1-mxfp4-eight-ranks"].file), "--source", R1)
    assert (status, found["log"]["match"]) == (1, "differs")
    assert found["log"]["difference"]


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--source", R1, "--log", str(BY_NAME["0.33.0-r1-mxfp4-eight-ranks"].file)])
    lines = capsys.readouterr().out.splitlines()
    assert "  not fused: 464 times, layers 3-60, by 8 processes (Worker_TP0 to Worker_TP7)" in lines
    assert "      Quark excludes shared experts at model.layers.*.mlp.shared_experts" in lines
    assert lines[-1].endswith("NOT as predicted")
    assert "        VLLM_ROCM_USE_AITER=1 (assumed)" in lines


@pytest.mark.parametrize(
    ("count", "fused", "match", "status"),
    [(58, "fused", "matches", 0), (0, "separate", "differs", 1), (7, "partly", "differs", 1)],
)
def test_the_plugins_summary_is_taken_for_what_it_says(
    count: int, fused: str, match: str, status: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    head = "(EngineCore pid=1) INFO 11-30 13:49:44 [api_utils.py:286] "
    arguments = f"{head}non-default args: {{'model': '{R1}', 'tensor_parallel_size': 8}}\n"
    (tmp_path / "x.log").write_text(f"{arguments}{head}FSE: {count} of 58 MoE layers fused\n")
    ended, found = doctor(capsys, "--log", str(tmp_path / "x.log"))
    assert (found["log"]["fused"], found["log"]["match"], ended) == (fused, match, status)


@pytest.mark.parametrize("text", ["unset {}; {}", "env -u {} {}", "env -i {1}", "{0}=0; {1}", "bash -c '{}=0; {}'"])
def test_a_variable_of_this_process_that_the_command_takes_away(
    text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_ROCM_USE_AITER", "1")
    monkeypatch.setenv("VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS", "1")
    line = text.format("VLLM_ROCM_USE_AITER", f"vllm serve {R1} -tp 8")
    assert doctor(capsys, f"vllm serve {R1} -tp 8")[1]["report"]["verdict"] == "fuses"
    assert doctor(capsys, line)[1]["report"]["verdict"] == "separate"


def test_what_only_the_shell_knows_is_undecided(capsys: pytest.CaptureFixture[str]) -> None:
    status, found = doctor(capsys, f"{ON} vllm serve {R1} -tp $TP")
    assert (status, found["report"]["verdict"]) == (3, "undecided")


def test_what_holds_no_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--log", os.devnull]) == 3
    assert "no log of vLLM's" in capsys.readouterr().out


def both(tmp_path: Path, *names: str) -> str:
    """One file with the logs in a row."""
    file = tmp_path / "x.log"
    file.write_bytes(b"".join(gzip.decompress(BY_NAME[name].file.read_bytes()) for name in names))
    return str(file)


def test_a_log_of_several_servers_is_taken_for_none_of_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Whose the refusals are is not known, nor so whether they were predicted."""
    log = both(tmp_path, "0.33.0-r1-fp8", "0.29.0-r1-mxfp4-eight-ranks")
    second = Path(log).read_bytes().rindex(b"\n", 0, Path(log).read_bytes().rindex(b"non-default args")) + 1
    status, found = doctor(capsys, "--log", log, "--source", R1)
    assert (status, found["log"]["fused"], found["log"]["match"]) == (3, "unknown", "unknown")
    assert found["log"]["why"].startswith("the log is of 2 unlike servers, which begin at bytes ")
    assert f", {second}: read" in found["log"]["why"]
    assert found["log"]["said"][0]["count"] == 464


def test_a_server_that_starts_again_and_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = both(tmp_path, *["0.33.0-r1-fp8"] * 3)
    status, found = doctor(capsys, "--log", log, "--source", R1)
    assert (status, found["log"]["match"]) == (0, "matches")
    (problem,) = found["problems"]
    assert problem["severity"] == "warning"
    assert problem["message"].startswith("the same server starts 3 times in the log, first at byte ")


def test_that_the_plugin_is_there_may_be_said_of_a_command_and_of_a_log(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    image = f"docker run -e {ON.replace(' ', ' -e ')} vllm/vllm-openai-rocm:v0.31.0 amd/DeepSeek-R1-MXFP4 -tp 8"
    status, found = doctor(capsys, "--plugin", "--source", R1, "--gfx", "gfx950", image)
    assert (status, found["report"]["target"]["plugin"], found["report"]["target"]["tp"]) == (0, True, 8)
    (tmp_path / "log").write_text(
        "INFO 11-30 13:49:44 [x.py:1] vLLM API server version 0.31.0\n"
        f"INFO 11-30 13:49:44 [x.py:2] non-default args: {{'model': '{R1}', 'tensor_parallel_size': 8}}\n"
    )
    _, found = doctor(capsys, "--plugin", "--gfx", "gfx950", "--log", str(tmp_path / "log"))
    assert (found["report"]["target"]["plugin"], found["report"]["target"]["tp"]) == (True, 8)
