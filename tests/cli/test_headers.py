"""`fse check --headers`: what is read, what is told while it is, and what becomes of a report without it."""

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fse_core.cli import main
from fse_core.read.model import Model
from tests.hub_server import Hollow, HubServer
from tests.hub_server.fixtures import hub
from tests.safetensors_files import deepseek, file, sharded

__all__ = ["hub"]

CONFIG = Path(__file__).resolve().parents[2] / "examples" / "deepseek-ai--DeepSeek-R1-0528" / "config.json"
TENSORS = deepseek(range(62), 8)
TINY = json.dumps(json.loads(CONFIG.read_bytes()) | {"n_routed_experts": 8, "n_group": 4, "topk_group": 2}).encode()
"""The config that these tensors belong to."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Model]:
    """The models that were checked."""
    from fse_core import check as module

    assert module is not None
    found: list[Model] = []
    real = sys.modules["fse_core.check"].check

    def checked(model: Model, target: Any) -> Any:
        found.append(model)
        return real(model, target)

    monkeypatch.setattr(sys.modules["fse_core.check"], "check", checked)
    return found


def folder(path: Path, files: Mapping[str, Hollow | bytes]) -> str:
    path.mkdir()
    (path / "config.json").write_bytes(TINY)
    for name, data in files.items():
        with (path / name).open("wb") as target:
            target.write(data.head if isinstance(data, Hollow) else data)
            target.truncate(len(data))
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["check", "--tp", "8", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_no_header_is_read_unless_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, seen: list[Model]
) -> None:
    path = folder(tmp_path / "model", {"model.safetensors": b"no header"})
    assert run(capsys, path)[::2] == (0, "")
    assert [model.headers for model in seen] == [None]


def test_all_of_a_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path, seen: list[Model]) -> None:
    status, out, err = run(capsys, folder(tmp_path / "model", sharded(TENSORS, 9)), "--headers", "full")
    assert (status, err) == (0, "")
    assert out.splitlines()[-1].startswith("fuses")
    headers = seen[-1].headers
    assert headers is not None
    assert headers.complete
    assert headers.tensors.keys() == TENSORS.keys()


def test_a_sample_from_the_hub(
    capsys: pytest.CaptureFixture[str], hub: HubServer, seen: list[Model], tmp_path: Path
) -> None:
    hub.add("org/name", {"config.json": TINY, **sharded(TENSORS, 40)})
    assert run(capsys, "org/name", "--headers", "sample")[::2] == (0, "")
    headers = seen[-1].headers
    assert headers is not None
    assert not headers.complete
    assert {"model.layers.61"} < headers.by_head.keys()
    assert len(headers.files) < 8
    assert (tmp_path / "cache" / "fse" / "headers").is_dir()
    hub.requests.clear()
    assert run(capsys, "org/name", "--headers", "sample")[::2] == (0, "")
    assert not any(".safetensors" in line for line in hub.asked())


def test_what_does_not_fit_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = sharded(TENSORS, 30)
    for number in range(3, 18):
        del files[f"model-{number:05}-of-00030.safetensors"]
    status, out, err = run(capsys, folder(tmp_path / "model", files), "--headers", "full")
    assert status == 1
    assert out.splitlines()[-1].startswith("breaks")
    assert "FSE130 index-integrity" in out
    assert len(err.splitlines()) == 11
    assert "model-00003-of-00030.safetensors: is not there, and by the index holds" in err.splitlines()[0]
    assert err.splitlines()[-1].endswith("and 5 more such problems of its files")


@pytest.mark.parametrize("source", ["file", "stdin"])
def test_a_config_alone_has_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CONFIG.read_bytes())))
    status, out, err = run(capsys, str(CONFIG) if source == "file" else "-", "--headers", "sample")
    assert status == 3
    assert out.splitlines()[-1].startswith("fuses")
    assert "a config alone has no headers beside it" in err


def test_the_report_is_there_without_headers_that_cannot_be_had(
    capsys: pytest.CaptureFixture[str], hub: HubServer
) -> None:
    hub.add("org/name", {"config.json": CONFIG.read_bytes(), **sharded(TENSORS, 3)})
    hub.ranges = False
    status, out, err = run(capsys, "org/name", "--headers", "full", "--format", "json")
    assert status == 3
    assert json.loads(out)["verdict"] == "fuses"
    assert err.count("\n") == 1
    assert "org/name: without its headers: org/name: 127.0.0.1" in err
    assert "ignored the Range" in err


def test_a_bar_where_standard_error_is_a_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder(tmp_path / "model", sharded(TENSORS, 4))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    err = run(capsys, path, "--headers", "full")[2]
    assert "\rheaders [##############################] 4/4" in err
    assert err.endswith("\r\x1b[K")
    monkeypatch.setenv("TERM", "dumb")
    assert run(capsys, path, "--headers", "full")[2] == ""


def test_one_file_draws_no_bar(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    path = folder(tmp_path / "model", {"model.safetensors": file(TENSORS)})
    assert run(capsys, path, "--headers", "full")[2] == ""
