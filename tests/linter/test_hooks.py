"""The pre-commit hook and the GitHub action: by their consumers' own schemas, and run."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from pre_commit.clientlib import load_manifest

from tests.linter.checkpoints import NOT_HEARD, SOUND, written

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


def test_the_hook_is_one() -> None:
    (hook,) = load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))
    assert hook["entry"].split() == ["fse", "check", "--folder"]
    for name, taken in (
        ("a/config.json", True),
        ("config.json", True),
        ("a/hf_quant_config.json", True),
        ("b.json", False),
    ):
        assert bool(re.search(hook["files"], name)) is taken
    assert not re.search(hook["files"], "tokenizer_config.json")


def test_the_action_keeps_to_its_schema() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_nothing_from_outside_is_part_of_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]


def acted(folder: Path, **inputs: str) -> tuple["subprocess.CompletedProcess[str]", str]:
    """Runs the step that checks, as a runner would, and gives what it leaves as outputs and summary."""
    (step,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "check")
    given = {name: str(spec["default"]) for name, spec in ACTION["inputs"].items()} | inputs
    environment = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: given[m[1]], value)
        for name, value in step["env"].items()
    }
    bin_folder = folder / "runner" / "fse" / "bin"
    bin_folder.mkdir(parents=True)
    fse = bin_folder / "fse"
    fse.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom fse_core.cli import run\nrun()\n"
    )
    fse.chmod(0o755)
    files = {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        capture_output=True, text=True, check=False, cwd=folder,
        env=os.environ | environment | files | {"RUNNER_TEMP": str(folder / "runner")},
    )  # fmt: skip
    left = "".join(Path(file).read_text() for file in files.values() if Path(file).exists())
    return done, left


def test_the_action_finds_what_is_wrong(tmp_path: Path) -> None:
    written(tmp_path / "a b", NOT_HEARD)
    written(tmp_path / "good", SOUND)
    done, left = acted(
        tmp_path, sources="a b\ngood\n", args="--tp=2", **{"sarif-file": "fse.sarif", "junit-file": "j.xml"}
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error file=a b/config.json,line=")
    assert "status=1\n" in left
    assert "### good" in left
    assert "tp 2" in left
    assert (tmp_path / "fse.sarif").exists()
    assert (tmp_path / "j.xml").exists()


@pytest.mark.parametrize(
    ("inputs", "status"),
    [
        ({"sources": "good"}, 0),
        ({"sources": "bad", "args": "--ignore=FSE103"}, 0),
        ({"sources": "bad", "fail-on": "error"}, 1),
        ({"sources": "good", "fail-on": "nonsense"}, 2),
        ({"sources": "$(touch pwned)"}, 3),
        ({"sources": "good", "summary": "false"}, 0),
    ],
)
def test_the_action_ends_as_the_check_does(tmp_path: Path, inputs: dict[str, str], status: int) -> None:
    written(tmp_path / "good", SOUND)
    written(tmp_path / "bad", NOT_HEARD)
    done, left = acted(tmp_path, **inputs)
    assert done.returncode == status, done.stderr
    assert f"status={status}\n" in left
    assert ("###" in left) is (status < 2 and inputs.get("summary") != "false")
    assert not (tmp_path / "pwned").exists()
