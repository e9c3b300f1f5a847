"""The steps of the Dockerfile without an engine: what is copied, built, installed, started, asked and stopped.

The commands and variables are the Dockerfile's own. What is installed comes from this environment, so that no network
is needed: exactly the packages that the extra asks for.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Set
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.service.processes import STOPPED, free_port

ROOT = Path(__file__).resolve().parents[1]
NOBODY = 65534
STEPS = [
    line.strip().partition(" ")
    for line in re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text("utf-8")).splitlines()
    if line.strip() and not line.startswith("#")
]


def arguments(word: str) -> list[str]:
    """What follows the instruction, wherever it occurs."""
    return [rest for name, _, rest in STEPS if name == word]


def environment() -> dict[str, str]:
    """The variables of the last stage."""
    return dict(pair.split("=", 1) for pair in shlex.split(arguments("ENV")[-1]))


def copied(*, before: str = "CMD") -> list[str]:
    """What the image takes from the checkout before the first such instruction."""
    steps = STEPS[: [name for name, _, _ in STEPS].index(before)]
    copies = [rest for name, _, rest in steps if name == "COPY" and not rest.startswith("--from")]
    return [source for rest in copies for source in shlex.split(rest)[:-1]]


def pins() -> dict[str, str]:
    lines = (ROOT / "deploy" / "constraints.txt").read_text("utf-8").splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def wanted(lines: Iterable[str], extras: Set[str], seen: dict[str, list[Requirement]]) -> None:
    """Adds to `seen` what the lines ask for, and what that needs in turn: each package with what is asked of it."""
    for need in map(Requirement, lines):
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in extras or {""}):
            name = canonicalize_name(need.name)
            known = name in seen
            seen.setdefault(name, []).append(need)
            if not known or need.extras:
                wanted(distribution(need.name).requires or (), need.extras, seen)


def needs() -> dict[str, list[Requirement]]:
    """What the extra brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: dict[str, list[Requirement]] = {}
    wanted(project["optional-dependencies"]["service"], frozenset(), found)
    return found


def without_bytecode(_: str, names: list[str]) -> set[str]:
    return {name for name in names if name == "__pycache__" or name.endswith(".pyc")}


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=without_bytecode, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)


def build(root: Path) -> Path:
    """The wheel, from nothing but what the build stage has by then."""
    for name in copied(before="RUN"):
        copy(ROOT / name, root / "src" / name)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(root / "wheels")]
    subprocess.run(command, check=True, cwd=root / "src", capture_output=True)
    (wheel,) = (root / "wheels").glob("*.whl")
    return wheel


def interpreter() -> str:
    """One of this version that any user may start: this one may lie in somebody's home."""
    name = f"python3.{sys.version_info.minor}"
    for folder in (Path(sys.base_prefix) / "bin", Path("/usr/local/bin"), Path("/usr/bin")):
        program = (folder / name).resolve()
        if program.exists() and all(parent.stat().st_mode & 0o001 for parent in (program, *program.parents)):
            return str(program)
    pytest.skip(f"no {name} that an unprivileged user may start")


def install(wheel: Path, prefix: Path) -> None:
    """The wheel, and what its extra needs, into an environment of its own."""
    subprocess.run([interpreter(), "-m", "venv", "--without-pip", prefix], check=True)
    (packages,) = prefix.glob("lib/python*/site-packages")
    pip = [sys.executable, "-m", "pip", "--python", str(prefix / "bin" / "python"), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True)
    for name in needs():
        installed = distribution(name)
        parts = {file.parts[0] for file in installed.files or () if file.parts[0] != ".."} - {"__pycache__"}
        for part in parts:
            copy(Path(str(installed.locate_file(part))), packages / part)


@pytest.fixture(scope="module")
def image() -> Iterator[Path]:
    """A folder laid out as the image is: app, data, opt/fse. Open to other users, unlike pytest's own folders."""
    root = Path(tempfile.mkdtemp(prefix="fse-image-"))
    root.chmod(0o755)
    install(build(root), root / "opt" / "fse")
    for name in set(copied()) - set(copied(before="RUN")):
        copy(ROOT / name, root / "app" / name)
    subprocess.run(["chmod", "-R", "a+rX,a-w", root / "app", root / "opt"], check=True)
    for name in ("data", "tmp"):
        (root / name).mkdir()
        if os.geteuid() == 0:
            os.chown(root / name, NOBODY, NOBODY)
    yield root
    subprocess.run(["chmod", "-R", "u+w", root], check=True)
    shutil.rmtree(root)


def placed(root: Path, text: str) -> str:
    """A path of the image, where it lies in this test."""
    return re.sub(r"(?<![\w.])/(app|data|tmp|opt/fse)\b", lambda found: f"{root}/{found[1]}", text)


def start(root: Path, variables: Mapping[str, str], command: list[str]) -> "subprocess.Popen[bytes]":
    """As the image does: its variables and no others, its folder, a user without rights."""
    user = NOBODY if os.geteuid() == 0 else None
    program = shutil.which(command[0], path=variables["PATH"])
    assert program is not None
    return subprocess.Popen(
        [program, *command[1:]],
        cwd=root / "app",
        env=dict(variables),
        user=user,
        group=user,
        extra_groups=[] if user else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def healthy(process: "subprocess.Popen[bytes]", root: Path, variables: Mapping[str, str], command: list[str]) -> bool:
    """Whether the command says so before the time is over and while the process runs."""
    until = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < until:
        if start(root, variables, command).wait(10) == 0:
            return True
        time.sleep(0.2)
    return False


def get(url: str) -> int:
    with urllib.request.urlopen(url, timeout=20) as answer:
        return int(answer.status)


def test_the_image_starts_answers_and_stops(image: Path) -> None:
    variables = {name: placed(image, value) for name, value in environment().items()}
    assert variables["FSE_STORE"] == f"sqlite:///{image}/data/fse.sqlite3"
    variables |= {"FSE_HOST": "127.0.0.1", "FSE_PORT": str(free_port()), "TMPDIR": str(image / "tmp")}
    health = json.loads(arguments("HEALTHCHECK")[0].partition("CMD")[2])
    assert start(image, variables, health).wait(10) == 1, "healthy before it was started"
    process = start(image, variables, json.loads(arguments("CMD")[0]))
    try:
        was_healthy = healthy(process, image, variables, health)
        pages = [get(f"http://127.0.0.1:{variables['FSE_PORT']}{path}") for path in ("/", "/readyz") if was_healthy]
        process.send_signal(signal.SIGTERM)
        told = process.communicate(timeout=20)[0].decode()
    finally:
        process.kill()
    assert was_healthy, told
    assert pages == [200, 200]
    assert process.returncode in STOPPED, told
    assert '"event": "stopped"' in told
    assert "Traceback" not in told
    assert (image / "data" / "fse.sqlite3").exists()
    assert not list((image / "app").rglob("__pycache__"))
    assert not list((image / "tmp").iterdir())


def test_the_image_holds_what_its_stages_copy_and_no_more() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    let_in = {line[1:] for line in lines if line.startswith("!")}
    assert lines[1] == "*"
    assert let_in == set(copied())
    assert {source for source in copied() if not (ROOT / source).exists()} == set()


def test_the_last_stage_runs_as_nobody_in_particular() -> None:
    assert arguments("USER") == ["10001:10001"]
    stages = [step for step in STEPS if step[0] in ("USER", "FROM", "CMD")]
    assert [name for name, _, _ in stages] == ["FROM", "FROM", "USER", "CMD"]
    assert not arguments("ADD")
    assert ":" in arguments("ARG")[0]


def test_every_package_of_the_image_has_one_version_which_the_extra_allows() -> None:
    known = pins()
    for name, requirements in needs().items():
        assert name in known, f"deploy/constraints.txt has no line for {name}"
        for requirement in requirements:
            assert requirement.specifier.contains(known[name], prereleases=True), requirement


def compose() -> list[str]:
    for command in (["docker", "compose"], ["docker-compose"]):
        version = [*command, "version"]
        if shutil.which(command[0]) and subprocess.run(version, check=False, capture_output=True).returncode == 0:
            return command
    pytest.skip("neither `docker compose` nor docker-compose is installed")


@pytest.mark.parametrize(
    ("options", "expected"),
    [([], {"service"}), (["--profile", "scale"], {"service", "proxy", "replica-1", "replica-2", "valkey"})],
)
def test_compose_takes_every_profile_and_confines_every_service(options: list[str], expected: set[str]) -> None:
    done = subprocess.run([*compose(), *options, "config"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    text = re.split(r"^\S", done.stdout.partition("services:\n")[2], flags=re.MULTILINE)[0]
    _, *parts = re.split(r"^  ([a-z0-9-]+):\n", text, flags=re.MULTILINE)
    services = dict(zip(parts[::2], parts[1::2], strict=True))
    assert expected <= set(services)
    services.pop("vllm", None)  # the engine, on GPUs: it compiles what it runs, see tests/test_image_rocm.py
    for service in services.values():
        assert "read_only: true" in service
        assert re.search(r"cap_drop:\n\s+- ALL\n", service)
        assert "no-new-privileges:true" in service
        assert "restart: unless-stopped" in service
