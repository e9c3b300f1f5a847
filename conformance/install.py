"""Sets releases up once, in about 2 GB of a cache folder: an environment for all, and each one's Python files.

usage: python -m conformance.install [RELEASE...]
FSE_CONFORMANCE_HOME names the folder, else it is <user's cache>/fse-conformance.
Exit code 75 and one line where it cannot be had, as without a network.
"""

import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

from conformance.home import PACKAGE, RELEASE, Home, default_home

UNAVAILABLE = 75
"""What sysexits.h calls a temporary failure."""

TORCH = "torch==2.13.0"
REQUIREMENTS = PACKAGE / "requirements.txt"
WITHOUT_DEPENDENCIES = ("xgrammar==0.2.8",)
"""Their own dependencies would look for a GPU."""


class Unavailable(Exception):
    """The release, or something that it needs, cannot be had."""


def install(home: Home) -> None:
    """Make `home` ready; what is there already stays."""
    if not (home.venv / "ready").exists():
        _say(f"setting up {home.venv} ...")
        _make_environment(home)
    if not (home.package / "ready").exists():
        _say(f"fetching vLLM {home.release}'s Python files ...")
        _fetch_release(home)


def _make_environment(home: Home) -> None:
    shutil.rmtree(home.venv, ignore_errors=True)
    venv.create(home.venv, with_pip=True)
    _pip(home, "install", TORCH)
    _pip(home, "install", "--requirement", str(REQUIREMENTS))
    _pip(home, "install", "--no-deps", *WITHOUT_DEPENDENCIES)
    (home.venv / "ready").touch()


def _fetch_release(home: Home) -> None:
    shutil.rmtree(home.package, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=home.root) as folder:
        options = ("--no-deps", "--only-binary=:all:", "--dest", folder)
        _pip(home, "download", *options, f"vllm=={home.release}")
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            python = [name for name in wheel.namelist() if not name.endswith(".so")]
            wheel.extractall(home.package, python)
    (home.package / "ready").touch()


def _pip(home: Home, command: str, *arguments: str) -> None:
    """Run the environment's pip. Unavailable, with its last line, where it fails."""
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input", "--retries", "2")
    line = [str(home.python), "-m", "pip", command, *quiet, *arguments]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        errors = [text for text in done.stdout.splitlines() if text.strip()]
        raise Unavailable(f"pip {command} failed: {errors[-1] if errors else done.returncode}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    """Run the command line. Its exit code."""
    return max(map(ready, sys.argv[1:] or [RELEASE]))


def ready(release: str) -> int:
    """Set a release up. 0, or UNAVAILABLE and a line that says why."""
    home = default_home(release)
    try:
        home.root.mkdir(parents=True, exist_ok=True)
        install(home)
    except (Unavailable, OSError) as error:
        _say(f"CONFORMANCE UNAVAILABLE: vLLM {home.release} cannot be set up in {home.root}: {error}")
        return UNAVAILABLE
    return 0


if __name__ == "__main__":
    sys.exit(main())
