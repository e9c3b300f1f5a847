"""`fse` as a process: pipes, terminals, closed and full outputs, and what it loads."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FSE = [sys.executable, "-c", "from fse_core.cli import run; run()"]
ROOT = Path(__file__).resolve().parents[2]
CHECK = [*FSE, "check", str(ROOT / "examples" / "deepseek-ai--DeepSeek-R1-0528"), "--tp", "8"]


def shell(command: str) -> "subprocess.CompletedProcess[str]":
    words = ("bash", "-c", command, "bash", *CHECK)
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT, timeout=60)


def on_terminal(environment: dict[str, str], *more: str) -> str:
    """What the command prints when its output is a terminal."""
    ours, theirs = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM", "COLUMNS")}
    with os.fdopen(ours, "rb", buffering=0) as reader:
        with os.fdopen(theirs, "wb") as terminal:
            subprocess.run([*CHECK, *more], stdout=terminal, check=True, cwd=ROOT, timeout=60, env=kept | environment)
        return reader.read(1 << 16).decode()


def test_a_pipe_gets_plain_ascii_without_wrapping() -> None:
    done = shell('"$@"')
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) > 80


def test_a_terminal_gets_colors_and_lines_that_fit() -> None:
    out = on_terminal({"TERM": "xterm-256color"})
    assert "\x1b[32m" in out
    assert "with vLLM 0.33.0" in out.replace("\r\n", " ").replace("\x1b[0m", "").replace("\x1b[32m", "")


@pytest.mark.parametrize(
    ("environment", "more", "colored"),
    [
        ({"TERM": "xterm", "NO_COLOR": "1"}, (), False),
        ({"TERM": "dumb"}, (), False),
        ({"TERM": "xterm"}, ("--color", "never"), False),
        ({"TERM": "xterm", "NO_COLOR": ""}, (), True),
        ({"TERM": "dumb", "NO_COLOR": "1"}, ("--color", "always"), True),
    ],
)
def test_who_decides_about_colors(environment: dict[str, str], more: tuple[str, ...], colored: bool) -> None:
    assert ("\x1b[" in on_terminal(environment, *more)) is colored


def test_a_reader_that_goes_away_is_no_error() -> None:
    done = shell('set -o pipefail; "$@" --format json | head -c 1')
    assert (done.returncode, done.stdout, done.stderr) == (0, "{", "")


def test_a_full_disk_is_said() -> None:
    done = shell('"$@" > /dev/full')
    assert done.returncode == 3
    assert done.stderr == "fse: cannot write the report: No space left on device\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_outputs(closed: str) -> None:
    done = shell(f'"$@" {closed}')
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_an_output_that_holds_ascii_alone(tmp_path: Path) -> None:
    folder = tmp_path / "caf\u00e9"
    folder.mkdir()
    shutil.copy(ROOT / "examples" / "zai-org--GLM-4.5" / "config.json", folder)
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*FSE, "check", folder.name], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
    )
    assert done.stdout.startswith("caf\\xe9\n")


def test_offline_is_told_to_the_hub_client(tmp_path: Path) -> None:
    environment = os.environ | {"HF_HOME": str(tmp_path), "HF_ENDPOINT": "http://127.0.0.1:9"}
    environment.pop("HF_HUB_OFFLINE", None)
    done = subprocess.run(
        [*FSE, "check", "org/model", "--offline"],
        capture_output=True, text=True, check=False, cwd=ROOT, timeout=60, env=environment,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "")
    assert "offline" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["check", "--help"],
        ["check"],
        ["matrix", "--help"],
        ["diff", "a"],
        ["releases"],
        ["matrix", "a", "--tp", "0"],
    ],
)
def test_no_family_is_loaded_to_say_what_the_command_line_is(arguments: list[str]) -> None:
    program = (
        "import sys\nfrom fse_core.cli import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "fse_core.families.deepseek " not in done.stderr
    assert "fse_core.quantization.quark " not in done.stderr
    assert "huggingface_hub" not in done.stderr
