"""Completion, as the shells themselves complete."""

import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from fse_core.cli import build_parser, main
from fse_core.cli.commands import names
from fse_core.cli.shells import described

ASKED = {
    "fse ": {"check", "explain", "fix", "rules", "completion"},
    "fse ch": {"check"},
    "fse check --fail-on ": {"error", "warning", "info", "never"},
    "fse check -f s": {"sarif"},
    "fse check --select FSE11": {"FSE114", "FSE117"},
    "fse explain FSE11": {"FSE114", "FSE117"},
    "fse completion ": {"bash", "zsh", "fish"},
    "fse fix --al": {"--allow"},
    "fse matrix --vllm 0.33": {"0.33.0"},
}


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Path:
    shell = str(request.param)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert main(["completion", shell]) == 0
    file = tmp_path / f"fse.{shell}"
    file.write_text(capsys.readouterr().out)
    return file


def test_every_command_and_option_is_described() -> None:
    commands = {one.name: one for one in described(build_parser(names()), {})}
    assert set(commands) >= {"check", "completion", "diff", "explain", "fix", "matrix", "releases", "rules"}
    given = {name for option in commands["check"].options for name in option.names}
    assert {"--help", "-f", "--format", "-o", "--no-config"} <= given
    assert {name for option in commands["check"].options if not option.takes for name in option.names} >= {"--ep"}


@pytest.mark.parametrize("script", ["bash"], indirect=True)
@pytest.mark.parametrize("line", ASKED)
def test_bash(script: Path, line: str) -> None:
    program = 'source "$1"; read -ra COMP_WORDS <<< "$2"; [[ $2 == *" " ]] && COMP_WORDS+=(""); '
    program += 'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _fse; printf "%s\\n" "${COMPREPLY[@]}"'
    command = ["bash", "-c", program, "bash", str(script), line]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    found = set(done.stdout.split())
    assert found >= ASKED[line]
    assert all(word.startswith(line.rpartition(" ")[2]) for word in found)


@pytest.mark.parametrize("script", ["fish"], indirect=True)
@pytest.mark.parametrize("line", ASKED)
def test_fish(script: Path, line: str) -> None:
    command = ["fish", "--no-config", "-c", 'source $argv[1]; complete -C "$argv[2]"', str(script), line]
    environment = os.environ | {"HOME": str(script.parent), "XDG_CONFIG_HOME": str(script.parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
    assert {row.partition("\t")[0] for row in done.stdout.splitlines()} >= ASKED[line]


@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh(script: Path) -> None:
    """On a terminal of its own, by the Tab key, since its completion works nowhere else."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="dumb", PS1="> ", ZDOTDIR=str(script.parent))
        os.execvp("zsh", ["zsh", "-f", "-i"])
    setup = f"autoload -U compinit; compinit -u -D; source {script}; print rea''dy"
    try:
        assert "ready" in typed(terminal, f"{setup}\n", "ready")
        assert "fse completion" in typed(terminal, "fse comp\t", "completion")
        assert "bash" in typed(terminal, "ba\t", "bash")
        assert "FSE117" in typed(terminal, "\x15fse explain FSE11\t", "FSE117")
        assert "--format" in typed(terminal, "\x15fse check --form\t", "--format")
    finally:
        os.write(terminal, b"\x15exit\n")
        os.close(terminal)
        os.waitpid(child, 0)


def typed(terminal: int, keys: str, until: str) -> str:
    """What the shell answers to the keys, up to a word of it."""
    os.write(terminal, keys.encode())
    seen, end = "", time.monotonic() + 20
    while until not in seen and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 65536).decode(errors="replace")
    return seen
