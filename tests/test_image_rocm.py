"""Dockerfile.rocm without an engine and without a GPU: its steps, in a prefix that has what vLLM pins, and no more."""

import json
import re
import shlex
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from fse_core.target import REQUESTED_ENVIRONMENT
from tests.test_image import ROOT, compose, copy

TEXT = (ROOT / "Dockerfile.rocm").read_text("utf-8")
STEPS = [
    line.strip().partition(" ")
    for line in re.sub(r"\\\n\s*", "", TEXT).splitlines()
    if line.strip() and not line.startswith("#")
]
PINNED = ("jinja2", "markupsafe", "packaging", "numpy")
"""Stand for what an image of vLLM has installed."""


def steps(stage: int) -> list[tuple[str, str]]:
    """The instructions of a stage, the first being 1."""
    found: list[list[tuple[str, str]]] = [[]]
    for name, _, rest in STEPS:
        if name == "FROM":
            found.append([])
        found[-1].append((name, rest))
    return found[stage]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first stage's: built from what it copies, and nothing else."""
    folder = tmp_path_factory.mktemp("build")
    for name, rest in steps(1):
        if name == "COPY":
            for source in shlex.split(rest)[:-1]:
                copy(ROOT / source, folder / "src" / source)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "wheels")]
    subprocess.run(command, check=True, cwd=folder / "src", capture_output=True)
    return folder / "wheels"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with pip, some packages, and a vLLM that pins them, one of them to another version."""
    folder = tmp_path_factory.mktemp("image") / "prefix"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in (*PINNED, "pip"):
        installed = distribution(name)
        parts = {file.parts[0] for file in installed.files or () if file.parts[0] != ".."} - {"__pycache__"}
        for part in parts:
            copy(Path(str(installed.locate_file(part))), packages / part)
    info = packages / "vllm-0.31.0.dist-info"
    info.mkdir()
    pins = [f"Requires-Dist: {name}=={distribution(name).version}" for name in PINNED[1:]]
    lines = [
        "Metadata-Version: 2.4",
        "Name: vllm",
        "Version: 0.31.0+rocm722",
        *pins,
        f"Requires-Dist: {PINNED[0]}==0.1",
    ]
    (info / "METADATA").write_text("\n".join(lines) + "\n")
    (info / "INSTALLER").write_text("uv\n")
    (info / "RECORD").write_text("")
    return folder


def told(prefix: Path, *words: str) -> list[str]:
    """What the environment's pip says."""
    command = [str(prefix / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", *words]
    done: subprocess.CompletedProcess[str] = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def test_the_run_steps_add_our_wheel_and_change_nothing_else(wheels: Path, prefix: Path) -> None:
    before = told(prefix, "freeze", "--all"), told(prefix, "check")
    assert any(line.startswith("vllm==") for line in before[0])
    assert any("vllm" in line and PINNED[0] in line.lower() for line in before[1]), "pip check has something to say"
    for name, rest in steps(2):
        if name == "RUN":
            placed = rest.replace("/opt/fse/wheels", str(wheels))
            path = {"PATH": f"{prefix / 'bin'}:/usr/bin:/bin", "VIRTUAL_ENV": str(prefix)}
            done = subprocess.run(["sh", "-ec", placed], env=path, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert done.stdout.splitlines()[-1].startswith("fse ")
    after = told(prefix, "freeze", "--all"), told(prefix, "check")
    assert [line for line in after[0] if not line.startswith("vllm-fse ")] == before[0]
    assert len(after[0]) == len(before[0]) + 1
    assert after[1] == before[1]


def test_the_plugin_and_the_command_are_there(prefix: Path, wheels: Path) -> None:
    program = (
        "from importlib.metadata import entry_points as e; print(*(p.name for p in e(group='vllm.general_plugins')))"
    )
    done = subprocess.run([prefix / "bin" / "python", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["fse"]
    report = subprocess.run(
        [prefix / "bin" / "fse", "doctor", "-f", "json"], capture_output=True, text=True, check=True
    )
    assert json.loads(report.stdout)["vllm"] == {"version": "0.31.0+rocm722", "from": "installed"}


def test_the_base_is_an_argument_and_its_entry_point_stays() -> None:
    assert ("ARG", "BASE=vllm/vllm-openai-rocm:v0.31.0") in steps(0)
    names = [name for name, _ in steps(2)]
    assert steps(2)[0] == ("FROM", "${BASE}")
    assert not {"ENTRYPOINT", "CMD", "USER", "WORKDIR"} & set(names)


def test_the_variables_ask_for_fusion_and_for_a_cache_of_its_own() -> None:
    (variables,) = (dict(pair.split("=", 1) for pair in rest.split()) for name, rest in steps(2) if name == "ENV")
    asked = {name: value for name, value in REQUESTED_ENVIRONMENT.items() if name != "VLLM_ROCM_USE_AITER_MOE"}
    assert variables == {**asked, "VLLM_CACHE_ROOT": "/root/.cache/vllm-fse"}


def test_what_is_copied_is_let_in() -> None:
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    copied = {
        word
        for name, rest in steps(1)
        if name == "COPY"
        for word in shlex.split(rest)[:-1]
        if not word.startswith("--")
    }
    assert copied <= let_in


def test_compose_gives_the_gpus_to_the_profile_and_to_no_other() -> None:
    command = [*compose(), "--profile", "rocm", "config"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    text = re.split(r"^\S", done.stdout.partition("services:\n")[2], flags=re.MULTILINE)[0]
    _, *parts = re.split(r"^  ([a-z0-9-]+):\n", text, flags=re.MULTILINE)
    services = dict(zip(parts[::2], parts[1::2], strict=True))
    assert [name for name, service in services.items() if "/dev/kfd" in service] == ["vllm"]
    assert re.search(r"ipc: host\n", services["vllm"])


def test_the_profile_in_the_file_says_what_docs_say() -> None:
    text = (ROOT / "docker-compose.yml").read_text("utf-8")
    service = re.split(r"\n  (?=[a-z])|\n(?=[a-z])", text.partition("\n  vllm:\n")[2])[0]
    for words in (
        "/dev/kfd",
        "/dev/dri",
        "ipc: host",
        "video",
        "render",
        "models:/root",
        "/health",
        "profiles: [rocm]",
    ):
        assert words in service
    page = (ROOT / "docs" / "rocm-image.md").read_text("utf-8")
    assert "docker compose --profile rocm up vllm" in page
