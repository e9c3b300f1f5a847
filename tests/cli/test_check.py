"""`fse check`: what it prints, where, and with which exit status."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fse_core.cli import main
from fse_core.errors import FetchError
from fse_core.report import Report
from tests.output.reports import finding, report

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FUSES = str(EXAMPLES / "deepseek-ai--DeepSeek-R1-0528")
FAILS = str(EXAMPLES / "example--DeepSeek-R1-FP8-one-shard-ignored")
ONLINE = EXAMPLES / "example--Qwen3.8-2.4T-A95B-MXFP4-online"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["check", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def rejected(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as raised:
        main(list(arguments))
    assert raised.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(capsys, *arguments, "--format", "json")[1])
    return found


def unknown(folder: Path) -> str:
    file = folder / "config.json"
    file.write_text('{"architectures": ["NobodyKnowsForCausalLM"], "num_hidden_layers": 2}')
    return str(file)


def answering(monkeypatch: pytest.MonkeyPatch, made: Report) -> None:
    monkeypatch.setattr(sys.modules["fse_core.check"], "check", lambda model, target: made)


def test_a_model_that_fuses(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, FUSES, "--tp", "8")
    assert (status, err) == (0, "")
    assert out.splitlines()[-1].startswith("fuses: 58 of 58 MoE layers")
    assert out.splitlines()[-1].endswith("on gfx942 at tp 8 with vLLM 0.33.0")


def test_a_model_that_does_not_start_is_reported_and_bad(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, FAILS)
    assert (status, err) == (1, "")
    assert "Detected some but not all shards" in out


def test_undecided_is_reported_and_has_its_own_status(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, err = run(capsys, unknown(tmp_path))
    assert (status, err) == (3, "")
    assert "NobodyKnowsForCausalLM" in out
    assert as_json(capsys, unknown(tmp_path))["verdict"] == "undecided"


@pytest.mark.parametrize(("verdict", "status"), [("breaks", 1), ("fails", 1), ("separate", 0), ("undecided", 3)])
def test_the_verdict_makes_the_status(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, verdict: str, status: int
) -> None:
    answering(monkeypatch, report(verdict=verdict, undecided_reason="because"))
    assert run(capsys, FUSES)[0] == status
    assert run(capsys, FUSES, "--fail-on", "never")[0] == status


@pytest.mark.parametrize(
    ("severity", "fail_on", "status"),
    [
        ("error", None, 1),
        ("warning", None, 0),
        ("warning", "warning", 1),
        ("info", "warning", 0),
        ("info", "info", 1),
        ("error", "never", 0),
    ],
)
def test_a_finding_makes_the_status(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, severity: str, fail_on: str | None, status: int
) -> None:
    answering(monkeypatch, report(findings=(finding(severity=severity),)))
    options = [] if fail_on is None else ["--fail-on", fail_on]
    assert run(capsys, FUSES, *options)[0] == status


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("[1]", "JSON object"),
        ('{"a": NaN}', "finite"),
        ("\x00\x01", "UTF-8"),
        ('{"a": 1, "a": 2}', "once"),
    ],
)
def test_bad_input_is_one_line_on_stderr(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "config.json"
    file.write_text(text)
    status, out, err = run(capsys, str(file))
    assert (status, out) == (3, "")
    assert err.startswith("fse: ")
    assert str(file) in err
    assert words in err
    assert err.count("\n") == 1


def test_a_source_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "./not/here.json")
    assert (status, out) == (3, "")
    assert "./not/here.json: no such file or folder" in err


def test_a_source_that_cannot_be_had(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise FetchError("gated", "org/model is gated: ask for access on its page")

    monkeypatch.setattr("fse_core.read.source.read_model", refuse)
    assert run(capsys, "org/model") == (3, "", "fse: org/model is gated: ask for access on its page\n")


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    data = (Path(FUSES) / "config.json").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert as_json(capsys, "-")["source"] == {"kind": "inline", "id": "stdin", "revision": None, "commit": None}


def test_several_sources_one_of_them_bad(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, FUSES, "./not/here.json", FAILS, "--format", "json")
    assert status == 3
    assert [one["verdict"] for one in json.loads(out)] == ["fuses", "fails"]
    assert "./not/here.json" in err


def test_every_option_reaches_the_target(capsys: pytest.CaptureFixture[str]) -> None:
    options = (
        "--vllm 0.33.0 --gfx gfx950 --tp 4 --ep --dp 2 --pcp 3 --pp 5 --eplb --dbo --no-draft --env A=1 --env B=x=y "
        "--moe-backend Aiter-Mega-Moe --all2all-backend mori_low_latency"
    )
    assert as_json(capsys, FUSES, *options.split())["target"] == {
        "vllm": "0.33.0",
        "gfx": "gfx950",
        "tp": 4,
        "ep": True,
        "dp": 2,
        "pcp": 3,
        "pp": 5,
        "moe_backend": "aiter_mega_moe",
        "all2all_backend": "mori_low_latency",
        "eplb": True,
        "dbo": True,
        "plugin": False,
        "draft": False,
        "env": {"A": "1", "B": "x=y"},
        "quantization_config": None,
    }
    assert as_json(capsys, FUSES, "--plugin")["target"]["plugin"] is True


def test_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(capsys, FUSES)
    target = found["target"]
    assert (target["vllm"], target["gfx"], target["tp"], target["draft"]) == ("0.33.0", "gfx942", 1, True)
    assert found["requested"] is True
    assert {layer["part"] for layer in found["layers"]} == {"target", "draft"}


@pytest.mark.parametrize("as_file", [False, True])
def test_the_online_overlay(capsys: pytest.CaptureFixture[str], tmp_path: Path, as_file: bool) -> None:
    text = json.dumps(json.loads((ONLINE / "target.json").read_bytes())["overlay"])
    (tmp_path / "overlay.json").write_text(text)
    option = f"@{tmp_path / 'overlay.json'}" if as_file else text
    arguments = (str(ONLINE), "--gfx", "gfx950", "--tp", "8")
    assert as_json(capsys, *arguments)["verdict"] == "separate"
    assert as_json(capsys, *arguments, "--quantization-config", option)["verdict"] == "fuses"


def test_the_environment_decides_whether_fusion_is_requested(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(capsys, FUSES, "--env", "VLLM_ROCM_USE_AITER=0")
    assert (found["requested"], found["verdict"]) == (False, "separate")
    assert "VLLM_ROCM_USE_AITER" in found["requested_reason"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "expected a command"),
        (["chekc"], "invalid choice"),
        (["check"], "SOURCE"),
        (["check", FUSES, "--tp", "0"], "from 1 to"),
        (["check", FUSES, "--tp", "-1"], "from 1 to"),
        (["check", FUSES, "--dp", "two"], "from 1 to"),
        (["check", FUSES, "--pp", "9" * 5000], "from 1 to"),
        (["check", FUSES, "--gfx", "h100"], "gfx942"),
        (["check", FUSES, "--env", "NAME"], "KEY=VALUE"),
        (["check", FUSES, "--env", "=1"], "KEY=VALUE"),
        (["check", FUSES, "--format", "xml"], "invalid choice"),
        (["check", FUSES, "--fail-on", "fatal"], "invalid choice"),
        (["check", FUSES, "--vllm", "0.1.0"], "0.11.1"),
        (["check", FUSES, "--vllm", "newest"], "0.33.0"),
        (["check", FUSES, "--quantization-config", "{"], "--quantization-config"),
        (["check", FUSES, "--quantization-config", "[]"], "JSON object"),
        (["check", FUSES, "--quantization-config", "@/not/here"], "cannot read /not/here"),
        (["check", FUSES, "--token-file", "/not/here"], "cannot read /not/here"),
        (["check", FUSES, "--token-file", "/dev/null"], "empty"),
        (["check", FUSES, "--formatt", "json"], "unrecognized"),
        (["check", FUSES, "--form", "json"], "unrecognized"),
    ],
)
def test_a_wrong_command_line(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert words in rejected(capsys, *arguments)


def test_the_token_reaches_the_reader(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: dict[str, str | None] = {}

    def refuse(source: str, *, token: str | None) -> None:
        seen[source] = token
        raise FetchError("missing_repo", "no such model")

    monkeypatch.setattr("fse_core.read.source.read_model", refuse)
    (tmp_path / "token").write_text("hf_secret\n")
    _, out, err = run(capsys, "org/model", "--token-file", str(tmp_path / "token"))
    assert seen == {"org/model": "hf_secret"}
    assert "hf_secret" not in out + err
    run(capsys, "org/other")
    assert seen["org/other"] is None


def test_a_bug_is_one_line_that_asks_to_report_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("one\ntwo")

    monkeypatch.setattr(sys.modules["fse_core.check"], "check", broken)
    monkeypatch.delenv("FSE_DEBUG", raising=False)
    status, out, err = run(capsys, FUSES)
    assert (status, out, err.count("\n")) == (70, "", 1)
    assert "please report it" in err
    assert "KeyError" in err
    monkeypatch.setenv("FSE_DEBUG", "1")
    with pytest.raises(KeyError):
        main(["check", FUSES])


def test_interrupted_is_quiet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["fse_core.check"], "check", interrupt)
    assert run(capsys, FUSES) == (130, "", "")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == "fse 0.1.0 (vLLM 0.11.1 to 0.33.0)\n"


def test_help_says_what_the_exit_statuses_mean(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["check", "--help"])
    assert raised.value.code == 0
    out = capsys.readouterr().out
    assert "exit status: 0 nothing wrong" in out
    assert "org/name[@revision]" in out
