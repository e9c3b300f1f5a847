"""`fse check` as a linter: several outputs, settings, selection, many inputs; `fse rules` and `fse explain`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fse_core.cli import main
from tests.linter.checkpoints import FAILS, NOT_HEARD, SOUND, UNKNOWN, written

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three checkpoints, where the command runs."""
    for name, config in (("bad", NOT_HEARD), ("good", SOUND), ("fails", FAILS)):
        written(tmp_path / name, config)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str, command: str = "check") -> tuple[int, str, str]:
    try:
        status = main([command, *arguments])
    except SystemExit as error:
        status = int(error.code or 0)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def reports(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    found = json.loads(run(capsys, *arguments, "-f", "json")[1])
    return found if isinstance(found, list) else [found]


def test_several_outputs_of_one_run(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    status, out, err = run(
        capsys, "bad", "good", "-f", "sarif", "-o", "a.sarif", "-f", "table", "-f", "junit", "-o", "j"
    )
    assert (status, err) == (1, "")
    assert out.startswith("bad\n  model")
    assert json.loads((project / "a.sarif").read_text())["version"] == "2.1.0"
    assert (project / "j").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-f", "json", "-f", "table"), "two formats for standard output"),
        (("-f", "json", "-o", "a", "-f", "sarif", "-o", "./a"), "two formats for"),
        (("-o", "a", "-f", "json"), "expected the --format that goes there before it"),
        (("-f", "json", "-o", "a", "-o", "b"), "expected the --format that goes there before it"),
        (("-f", "xml"), "invalid choice"),
        (("--select", "FSE999"), "--select: no rule is called 'FSE999'"),
        (("--config", "none.toml"), "none.toml: cannot be read"),
        (("--target", "mi300"), "no such target; the settings name none"),
        (("--config", "x", "--no-config"), "exclude each other"),
    ],
)
def test_a_wrong_command_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str) -> None:
    (Path.cwd() / "x").write_text("")
    status, out, err = run(capsys, "good", *arguments)
    assert (status, out) == (2, "")
    assert words in err


def test_a_file_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "good", "-f", "json", "-o", "no/such/folder", "-f", "table")
    assert status == 3
    assert "cannot write no/such/folder: No such file or directory" in err
    assert "fuses: 2 of 2" in out, "the others are written all the same"


def test_what_could_not_be_read_is_told_by_the_formats_that_can(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "./none")[:2] == (3, "")
    status, out, _ = run(capsys, "./none", "-f", "sarif")
    (notification,) = json.loads(out)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert (status, notification["message"]["text"]) == (3, "./none: no such file or folder")


def test_places_are_in_what_programs_read(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = reports(capsys, "bad")
    first = found["findings"][0]["places"][0]
    assert first["pointer"] == "/quantization_config/ignored_layers/1"
    assert (
        Path(first["file"]).read_text().splitlines()[first["line"] - 1][first["column"] - 1 :].startswith('"model.la')
    )


def test_a_check_for_each_target_of_the_settings(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    (project / "fse.toml").write_text("[targets.a]\ntp = 4\n[targets.b]\nvllm = '0.28.0'\ngfx = 'gfx950'\n")

    def asked(*arguments: str) -> list[tuple[str, str, int]]:
        found = (one["target"] for one in reports(capsys, "good", *arguments))
        return [(one["vllm"], one["gfx"], one["tp"]) for one in found]

    assert asked() == [("0.33.0", "gfx942", 4), ("0.28.0", "gfx950", 1)]
    assert asked("--target", "b") == [("0.28.0", "gfx950", 1)]
    assert asked("--tp", "1") == [("0.33.0", "gfx942", 1), ("0.28.0", "gfx950", 1)], "given as its default is given"
    assert asked("--no-config") == [("0.33.0", "gfx942", 1)]
    assert asked("--vllm", "0.31.0", "--target", "a") == [("0.31.0", "gfx942", 4)]


def test_a_target_that_no_release_answers_for(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    (project / "fse.toml").write_text("[targets.old]\nvllm = '0.1.0'\n")
    status, out, err = run(capsys, "good")
    assert (status, out) == (2, "")
    assert "fse.toml: targets.old: --vllm: vLLM 0.1.0 is not known" in err


def test_an_ignore_makes_a_model_that_breaks_pass(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    assert run(capsys, "bad")[0] == 1
    ignore = "[[ignore]]\nrule = 'FSE103'\nmodel = 'bad'\nreason = 'exported anew soon'\nuntil = 2999-01-01\n"
    (project / "fse.toml").write_text(ignore)
    status, out, _ = run(capsys, "bad", "good")
    assert status == 0
    assert "ignored FSE103 gate-accepts-what-breaks: exported anew soon (until 2999-01-01)" in out
    (project / "fse.toml").write_text(ignore.replace("2999", "2026"))
    status, out, _ = run(capsys, "bad", "good")
    assert status == 1
    assert "warning FSE003 ignore-expired" in out


def test_an_ignore_that_is_of_no_use_is_a_finding(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    text = "fail-on = 'warning'\n[[ignore]]\nrule = 'FSE103'\nmodel = 'good'\nreason = 'x'\nuntil = 2999-01-01\n"
    (project / "fse.toml").write_text(text)
    status, out, _ = run(capsys, "good", "-f", "github")
    assert status == 1
    assert out.startswith("::warning file=fse.toml,line=2,col=1,title=FSE004 ignore-unused::")
    assert run(capsys, "good", "--fail-on", "error")[0] == 0


def test_selecting_and_ignoring(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    assert run(capsys, "bad", "--ignore", "gate-accepts-what-breaks")[0] == 0
    assert run(capsys, "bad", "--select", "FSE101,FSE114")[0] == 0
    assert run(capsys, "bad", "--select", "FSE103")[0] == 1
    assert run(capsys, "fails", "--select", "FSE101")[0] == 1, "a start that fails is not a rule's finding"
    (project / "fse.toml").write_text("[severity]\nFSE103 = 'info'\n")
    (found,) = reports(capsys, "bad")
    assert {one["severity"] for one in found["findings"]} == {"info"}


def test_a_folder_is_checked_once_for_all_its_files(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    (project / "good" / "hf_quant_config.json").write_text("{}")
    files = ["good/config.json", "good/hf_quant_config.json", "bad/config.json"]
    assert [one["source"]["id"] for one in reports(capsys, "--folder", *files)] == ["good", "bad"]


def test_settings_are_found_above_and_named_by_where_they_are(
    capsys: pytest.CaptureFixture[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "fse.toml").write_text("fail-on = 'bad'\n")
    monkeypatch.chdir(project / "good")
    status, _, err = run(capsys, ".")
    assert status == 2
    assert "fse.toml:1: fail-on: expected one of" in err
    assert run(capsys, ".", "--no-config")[0] == 0


def test_undecided_is_told_by_every_format(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    written(project / "unknown", UNKNOWN)
    for name, words in (("github", "FSE002 not-decided"), ("junit", 'errors="1"'), ("sarif", "FSE002")):
        status, out, _ = run(capsys, "unknown", "-f", name)
        assert status == 3
        assert words in out


def test_rules_and_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert "FSE114  scales-do-not-split (error, likely)" in run(capsys, command="rules")[1]
    status, out, _ = run(capsys, "fse114", "shared-width", "FSE114", command="explain")
    assert status == 0
    assert [line for line in out.splitlines() if line.startswith("FSE")] == [
        "FSE114 scales-do-not-split",
        "FSE117 shared-width",
    ]
    for arguments, words in (
        (["FSE11"], "RULE: no rule is called 'FSE11'; did you mean FSE1"),
        (["scale-do-not-split"], "did you mean scales-do-not-split?"),
        ([], "expected a RULE, such as FSE101, or --all"),
        (["--all", "FSE101"], "expected a RULE, such as FSE101, or --all"),
    ):
        status, out, err = run(capsys, *arguments, command="explain")
        assert (status, out) == (2, "")
        assert words in err


def test_a_check_without_settings_loads_nothing_of_the_linter() -> None:
    program = (
        "import sys\nfrom fse_core.cli import main\n"
        "main(['check', 'good'])\nprint(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    loaded = set(done.stderr.splitlines())
    assert "fse_core.check" in loaded
    assert loaded.isdisjoint(
        {"fse_core.policy", "fse_core.settings.load", "fse_core.read.positions", "fse_core.output.sarif", "difflib"}
    )
