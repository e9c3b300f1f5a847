"""The Hub reader in a process of its own: what the environment says, and what is imported when."""

import os
import subprocess
import sys
from pathlib import Path

from tests.hub_server import HubServer
from tests.hub_server.fixtures import environment

ROOT = Path(__file__).parents[2]
READ = """
import sys
from fse_core.errors import FseError
from fse_core.read.source import read_model
try:
    model = read_model(sys.argv[1])
    print(model.source.commit, model.architecture)
except FseError as error:
    print(getattr(error, "kind", "input"), error)
print(sorted({name.partition(".")[0] for name in sys.modules} & {"huggingface_hub", "httpx", "httpx2", "tqdm"}))
"""


def read(source: str, variables: dict[str, str], cwd: Path) -> str:
    inherited = {name: value for name, value in os.environ.items() if not name.upper().startswith(("HF_", "HTTP"))}
    done = subprocess.run(
        [sys.executable, "-c", READ, source],
        env={**inherited, "PYTHONPATH": str(ROOT), **variables},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "Traceback" not in done.stderr
    return done.stdout


def test_environment_of_the_client(tmp_path: Path) -> None:
    with HubServer() as server:
        commit = server.add("org/name", {"config.json": b'{"architectures": ["A"]}'}, private=True).refs["main"]
        server.tokens["hf_reader"] = {"org/name"}
        variables = environment(server, tmp_path / "home")
        assert read("org/name", variables, tmp_path).startswith("missing_repo")
        assert read("org/name", {**variables, "HF_TOKEN": "hf_reader"}, tmp_path).startswith(f"{commit} A")
        server.requests.clear()
        assert read("org/name", {**variables, "HF_HUB_OFFLINE": "1"}, tmp_path).startswith(f"{commit} A")
        empty = {**variables, "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(tmp_path / "empty")}
        assert read("org/name", empty, tmp_path).startswith("offline")
        assert server.requests == []


def test_a_path_loads_no_client(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": ["A"]}')
    assert read("config.json", {}, tmp_path).splitlines() == ["None A", "[]"]
    assert read("./missing.json", {}, tmp_path).splitlines()[-1] == "[]"
