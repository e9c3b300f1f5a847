"""`fse ask` where there is no vLLM, and where one stands in for it; conformance/asking.py has a release itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from fse_core.cli import main
from fse_core.doctor import ask
from tests.output.schemas import validator

ROOT = Path(__file__).resolve().parents[2]
R1 = str(ROOT / "examples" / "amd--DeepSeek-R1-MXFP4")
ANSWER = {
    "version": "0.33.0",
    "fused": 58,
    "separate": 0,
    "error": None,
    "compared": 59,
    "agreed": 59,
    "differences": [],
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vllm that can be imported, and a harness whose answer a test writes."""
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "__init__.py").write_text("")
    live = tmp_path / "conformance" / "live"
    live.mkdir(parents=True)
    for folder in (live, live.parent):
        (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(ask, "_PLACES", (tmp_path,))
    return live / "here.py"


def answers(file: Path, **changes: Any) -> None:
    whole = json.dumps({**ANSWER, **changes})
    file.write_text(
        "import json, os, sys\nquestion = json.load(sys.stdin)\n"
        "print('noise', file=sys.stderr)\n"
        f"told = json.loads({whole!r})\n"
        "told['version'] = ' '.join([os.environ['FSE_GFX'], str(question['pretend']), str(question['target']['tp'])])\n"
        "print(json.dumps(told))\n"
    )


def test_without_vllm_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", R1]) == 3
    error = capsys.readouterr().err
    assert error.startswith("fse: no vLLM can be imported here")


def test_without_the_harness_it_says_so(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", R1]) == 3
    assert "does not hold the harness" in capsys.readouterr().err


def test_an_answer_as_predicted(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers(installed)
    assert main(["ask", R1, "--tp", "8", "--gfx", "gfx950", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    validator("ask").validate(found)
    assert found["version"] == "gfx950 True 8"
    assert found["pretended"]
    assert found["report"]["verdict"] == "fuses"


def test_an_answer_that_differs(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = {"type": "ValueError", "message": "no"}
    answers(
        installed, agreed=58, differences=["model: target x\n    release: separate\n    ours:    fused"], error=error
    )
    assert main(["ask", R1]) == 1
    out = capsys.readouterr().out
    assert "platform pretended: it was told that this machine has gfx942" in out
    assert "ended   ValueError: no" in out
    assert out.splitlines()[-1] == "DIFFERS: 58 of 59 as predicted"


def test_an_answer_about_nothing(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers(installed, compared=0, agreed=0)
    assert main(["ask", R1]) == 3
    assert "nothing to compare" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("raise SystemExit('torn')", "vLLM ended with 1 and no answer: torn"),
        ('print(\'{"failed": "vLLM cannot be imported: X"}\')', "vLLM cannot be imported: X"),
        ("import time; time.sleep(60)", "no answer in 1 seconds"),
    ],
)
def test_no_answer(program: str, words: str, installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    installed.write_text(f"{program}\n")
    assert main(["ask", R1, "--limit", "1"]) == 3
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--plugin"], ["--pp", "2"], ["--moe-backend", "none_such"]])
def test_what_cannot_be_asked(option: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["ask", R1, *option])
    assert ended.value.code == 2


@pytest.mark.parametrize("limit", ["0", "-1", "x", "9" * 30])
def test_a_limit_that_is_none_is_a_wrong_command_line(limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["ask", R1, f"--limit={limit}"])
    assert ended.value.code == 2
    assert "--limit: expected a number from 1" in capsys.readouterr().err
