"""`fse matrix`, `fse diff` and `fse releases`: what they print, where, and with which exit status."""

import json
from pathlib import Path
from typing import Any

import pytest

from fse_core import releases
from fse_core.cli import main
from tests.cli.test_check import rejected, unknown
from tests.releases.packages import package, release

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DEEPSEEK = str(EXAMPLES / "deepseek-ai--DeepSeek-R1-0528")
GLM = str(EXAMPLES / "zai-org--GLM-4.5")
V4 = str(EXAMPLES / "deepseek-ai--DeepSeek-V4-Flash")
LATEST = releases.known()[-1]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(run(capsys, *arguments, "--format", "json")[1])


def test_a_matrix_of_everything(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "matrix", GLM, "--tp", "8")
    assert (status, err) == (0, "")
    assert out.startswith(f"{GLM}\n  model   Glm4MoeForCausalLM, 92 layers\n  target  tp 8\n\n  vLLM ")
    assert f"  0.25.0 to {LATEST}   y  " in out
    assert "fuses since 0.25.0" in out


def versions(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    return [row["vllm"] for row in as_json(capsys, "matrix", GLM, *arguments)["releases"]]


def test_which_releases_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    known = list(releases.known())
    assert versions(capsys) == known
    assert versions(capsys, "--vllm", "..") == known
    assert versions(capsys, "--vllm", "0.31.0..") == known[known.index("0.31.0") :]
    assert versions(capsys, "--vllm", "0.31.0..latest") == known[known.index("0.31.0") :]
    assert versions(capsys, "--vllm", "latest..") == [LATEST]
    assert versions(capsys, "--vllm", "..0.12") == ["0.11.1", "0.11.2", "0.12.0"]
    assert versions(capsys, "--vllm", "0.32.0..0.33.0", "--vllm", "0.11.2", "--vllm", "0.33.0") == [
        "0.11.2", "0.32.0", "0.33.0",
    ]  # fmt: skip
    assert versions(capsys, "--vllm", "0.30.1..0.31.9") == ["0.31.0"]


def test_which_gpus_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, "matrix", GLM)["gpus"] == ["gfx942", "gfx950"]
    shown = as_json(capsys, "matrix", GLM, "--gfx", "gfx90a", "--gfx", "gfx950", "--gfx", "gfx90a", "--vllm", "latest")
    assert shown["gpus"] == ["gfx90a", "gfx950"]
    assert [cell["mark"] for cell in shown["releases"][0]["cells"].values()] == ["n", "y"]
    assert shown["notes"][0]["kind"] == "not_requested"


def test_the_targets_options_hold_for_every_cell(capsys: pytest.CaptureFixture[str]) -> None:
    shown = as_json(capsys, "matrix", GLM, "--tp", "4", "--env", "VLLM_ROCM_USE_AITER=0")
    assert (shown["options"]["tp"], shown["options"]["env"]) == (4, {"VLLM_ROCM_USE_AITER": "0"})
    assert {cell["mark"] for row in shown["releases"] for cell in row["cells"].values()} == {"n"}


def test_several_matrices_one_source_bad(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "matrix", GLM, "./not/here.json", V4, "--vllm", "latest", "--format", "json")
    assert status == 3
    assert [one["source"]["id"] for one in json.loads(out)] == [GLM, V4]
    assert err == "fse: ./not/here.json: no such file or folder\n"


def test_a_matrix_without_a_readable_source(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "matrix", "./not/here.json")
    assert (status, out, err.count("\n")) == (3, "", 1)


def test_a_matrix_that_decides_nothing_is_shown_and_no_answer(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, out, err = run(capsys, "matrix", unknown(tmp_path))
    assert (status, err) == (3, "")
    assert "NobodyKnowsForCausalLM is not known" in out
    assert run(capsys, "matrix", V4, "--vllm", "0.12.0")[0] == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["matrix"], "SOURCE"),
        (["matrix", GLM, "--vllm", "newest"], "0.33.0"),
        (["matrix", GLM, "--vllm", "0.1.0"], "0.11.1"),
        (["matrix", GLM, "--vllm", "0.9.0..0.10.0"], "no known release"),
        (["matrix", GLM, "--vllm", "0.33.0..0.24.0"], "no known release"),
        (["matrix", GLM, "--vllm", "0.24.0...0.33.0"], "--vllm"),
        (["matrix", GLM, "--vllm", "old..new"], "--vllm"),
        (["matrix", GLM, "--gfx", "h100"], "gfx942"),
        (["matrix", GLM, "--moe-backend", "nobodys"], "expected one of"),
        (["matrix", GLM, "--quantization-config", "["], "--quantization-config"),
        (["matrix", GLM, "--token-file", "/dev/null"], "empty"),
        (["matrix", GLM, "--format", "html"], "invalid choice"),
        (["diff", GLM, "0.33.0"], "NEW"),
        (["diff", GLM, "0.1.0", "0.33.0"], "0.11.1"),
        (["diff", GLM, "0.33.0", "soon"], "expected latest"),
        (["diff", GLM, "0.14.0", "0.33.0", "--moe-backend", "aiter"], "--moe-backend"),
        (["diff", GLM, "0.31.0", "0.33.0", "--gfx", "x"], "gfx942"),
        (["releases", "0.1.0"], "0.11.1"),
        (["releases", "0.33.0", "--installed", "."], "--installed"),
        (["releases", "--format", "yaml"], "invalid choice"),
    ],
)
def test_a_wrong_command_line(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    err = rejected(capsys, *arguments)
    assert words in err
    assert f"usage: fse {arguments[0]}" in err


@pytest.mark.parametrize(
    ("old", "new", "status", "last"),
    [
        ("0.24.0", "0.25.0", 0, "better: vLLM 0.24.0 does not fuse"),
        ("0.25.0", "0.24.0", 1, "worse: vLLM 0.25.0 fuses"),
        ("0.32.0", "0.33.0", 0, "the same: vLLM 0.33.0 fuses"),
    ],
)
def test_a_diff(capsys: pytest.CaptureFixture[str], old: str, new: str, status: int, last: str) -> None:
    found, out, err = run(capsys, "diff", GLM, old, new, "--tp", "8")
    assert (found, err) == (status, "")
    assert out.splitlines()[-1].startswith(last)
    assert f"vLLM {old} to {new}, gfx942, tp 8" in out


def test_a_diff_tells_with_which_release(capsys: pytest.CaptureFixture[str]) -> None:
    shown = as_json(capsys, "diff", GLM, "0.23.0", "latest", "--tp", "8")
    assert (shown["old"]["target"]["vllm"], shown["new"]["target"]["vllm"]) == ("0.23.0", LATEST)
    assert shown["steps"][0] == {"vllm": "0.25.0", "changes": list(releases.load("0.25.0").changes)}


def test_a_diff_with_a_release_that_has_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "diff", V4, "0.12.0", "0.33.0")
    assert (status, err) == (3, "")
    assert "has no class of its own" in out
    assert run(capsys, "diff", "./not/here.json", "0.12.0", "0.33.0")[:2] == (3, "")


def test_the_draft_can_be_left_out_of_a_diff(capsys: pytest.CaptureFixture[str]) -> None:
    with_it = as_json(capsys, "diff", GLM, "0.32.0", "0.33.0")
    without = as_json(capsys, "diff", GLM, "0.32.0", "0.33.0", "--no-draft")
    assert {change["part"] for change in with_it["layers"]} == {"target", "draft"}
    assert {change["part"] for change in without["layers"]} == {"target"}


def test_releases(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "releases")
    assert (status, err) == (0, "")
    assert all(f"\n{name} " in out for name in releases.known())
    status, out, _ = run(capsys, "releases", "0.19.1+rocm721")
    assert (status, out.startswith("vLLM 0.19.1\n")) == (0, True)
    assert [one["vllm"] for one in as_json(capsys, "releases", "0.33.0", "0.24.0")["releases"]] == ["0.24.0", "0.33.0"]


def test_an_installation(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = package(tmp_path / "a")
    known = release("0.1.0", root)
    monkeypatch.setattr("fse_core.cli.commands.releases._known", lambda: [known])
    status, out, err = run(capsys, "releases", "--installed", str(root))
    assert (status, err) == (0, "")
    assert "identical to 0.1.0" in out
    other = package(tmp_path / "b", "def gate(config):\n    # asks\n    return config\n")
    assert run(capsys, "releases", "--installed", str(other))[0] == 1
    none = package(tmp_path / "c", "")
    status, out, _ = run(capsys, "releases", "--installed", str(none), "--format", "markdown")
    assert (status, "unknown: none of" in out) == (3, True)


def test_a_folder_that_is_no_installation(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, err = run(capsys, "releases", "--installed", str(tmp_path))
    assert (status, out, err.count("\n")) == (3, "", 1)
    assert "is no vLLM package" in err


def test_every_command_says_what_its_exit_statuses_mean(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("check", "matrix", "diff", "releases"):
        with pytest.raises(SystemExit) as raised:
            main([command, "--help"])
        assert raised.value.code == 0
        assert "exit status: 0" in capsys.readouterr().out
