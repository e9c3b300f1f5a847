"""What is shipped and what an import loads: the core needs nothing but the standard library."""

import ast
import os
import statistics
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import fse_core

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "fse_core"
SERVICE = ROOT / "service"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
HUB = ("hub", "hub_direct", "hub_errors", "safetensors/hub", "safetensors/ranges")
EXTRAS = {f"read/{name}.py": {"huggingface_hub"} for name in HUB}
"""Who may ask for an extra, inside a function."""
TENSORS = {
    "vllm_plugin": {"torch", "vllm", "huggingface_hub"},
    "quantize": {"torch", "triton", "aiter"},
    "loader": {"torch"},
    "convert/numbers.py": {"torch"},
    "convert/ahead.py": {"torch"},
}
"""What works on tensors, by the start of its path: it imports torch, and others import it inside a function."""


def top(name: str) -> str:
    return name.partition(".")[0]


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (top(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield top(node.module or "")


def foreign(names: Iterator[str]) -> set[str]:
    return set(names) - {"fse_core", *sys.stdlib_module_names}


def modules() -> list[Path]:
    return sorted(CORE.rglob("*.py"))


def test_an_import_in_a_fresh_process_loads_no_third_party_module() -> None:
    seen = "import sys; before = set(sys.modules); import fse_core; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "fse_core.target" in done.stdout.split()
    assert foreign(top(name) for name in done.stdout.split()) == set()


def test_a_whole_check_loads_no_third_party_module() -> None:
    program = (
        "import sys; before = set(sys.modules)\n"
        "from fse_core.cli import main\n"
        "main(['check', 'examples/deepseek-ai--DeepSeek-R1-0528', '--format', 'json'])\n"
        "print(*(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert foreign(top(name) for name in done.stderr.split()) == set()


def test_an_extra_is_asked_for_only_where_it_is_needed_and_inside_a_function() -> None:
    for path in modules():
        tree = ast.parse(path.read_text("utf-8"))
        functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        inside = {name for function in functions for name in foreign(imported(function))}
        place = path.relative_to(CORE).as_posix()
        tensors = set().union(*(names for room, names in TENSORS.items() if place.startswith(room)))
        assert foreign(imported(tree)) - tensors == inside - tensors, path
        assert foreign(imported(tree)) <= EXTRAS.get(place, set()) | tensors, path


def test_the_service_extra_is_what_the_service_imports() -> None:
    trees = (ast.parse(path.read_text("utf-8")) for path in SERVICE.rglob("*.py"))
    names = set().union(*(foreign(imported(tree)) for tree in trees)) - {"service"}
    extra = {line.partition(">")[0].replace("-", "_") for line in PROJECT["optional-dependencies"]["service"]}
    assert extra == names | {"huggingface_hub"}, "the Hub's client is asked for by the core's reader"
    assert "huggingface_hub" not in names


@pytest.mark.parametrize("folder", [CORE, SERVICE], ids=lambda folder: folder.name)
def test_a_file_is_a_room_that_one_person_can_hold_in_the_head(folder: Path) -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in folder.rglob("*.py")}
    assert {path: length for path, length in lengths.items() if length > 400} == {}
    assert statistics.median(lengths.values()) < 80


def test_nothing_is_required_and_no_extra_is_somebody_elses_fse() -> None:
    assert PROJECT["dependencies"] == []
    wanted = {line.split("=")[0].split(">")[0] for extra in PROJECT["optional-dependencies"].values() for line in extra}
    assert wanted.isdisjoint({"fse", "aiter"})
    assert PROJECT["name"] == "vllm-fse"


def test_torch_is_pinned_to_one_version() -> None:
    assert PROJECT["optional-dependencies"]["torch"] == ["torch==2.13.0"]


def _asking() -> Iterator[str]:
    """The part of the conformance harness that `fse ask` runs in vLLM's process."""
    yield from (f"conformance/{name}.py" for name in ("__init__", "case", "compare", "home", "seeds", "truth"))
    live = (ROOT / "conformance" / "live").rglob("*.py")
    yield from (path.relative_to(ROOT).as_posix() for path in live)


def test_the_wheel_holds_the_core_with_its_data_and_nothing_else(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, check=True, cwd=ROOT, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"vllm_fse-{fse_core.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        files = {name for name in archive.namelist() if ".dist-info/" not in name}
        metadata = archive.read(f"vllm_fse-{fse_core.__version__}.dist-info/METADATA").decode()
        entry_points = archive.read(f"vllm_fse-{fse_core.__version__}.dist-info/entry_points.txt").decode()
        licences = [name for name in archive.namelist() if name.endswith("licenses/LICENSE")]
    tracked = {str(path.relative_to(ROOT)) for path in CORE.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    harness = {name for name in files if name.startswith("fse_core/harness/")}
    assert files - harness == tracked
    assert harness == {f"fse_core/harness/{name}" for name in _asking()}
    assert {"fse_core/py.typed", "fse_core/releases/0.33.0.toml", "fse_core/schema/report-1.schema.json"} <= files
    assert [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line] == []
    assert "fse = fse_core.cli:run" in entry_points
    assert licences


def test_the_import_contracts_hold() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([linter, "--no-cache"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_skipping_can_be_forbidden(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text("utf-8"))
    (tmp_path / "test_it.py").write_text("import pytest\n\ndef test_it():\n    pytest.skip('no such thing here')\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".", "."]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "FSE_"))}

    def run(**more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment | more
        )

    allowed, forbidden = run(), run(FSE_NO_SKIP="1")
    assert allowed.returncode == 0
    assert "NOT TESTED" in allowed.stdout
    assert "no such thing here" in allowed.stdout
    assert forbidden.returncode == 1
    assert "skipping is forbidden" in forbidden.stdout
