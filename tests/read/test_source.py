"""Which source a string names, and what each source gives."""

import errno
import io
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from fse_core.errors import InputError
from fse_core.read.document import MAX_BYTES
from fse_core.read.source import model_from_dict, read_model
from fse_core.report import Source
from tests.hub_server import HubServer

CONFIG = {"architectures": ["A"], "model_type": "a"}


def write(path: Path, document: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def refusal(source: str, **options: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        read_model(source, **options)
    return caught.value


def test_file_alone(tmp_path: Path) -> None:
    file = write(tmp_path / "any name", CONFIG)
    write(tmp_path / "hf_quant_config.json", {"quantization": {}})
    model = read_model(str(file))
    assert model.source == Source(kind="path", id=str(file))
    assert (model.architecture, model.hf_quant_config) == ("A", None)


def test_folder(tmp_path: Path) -> None:
    write(tmp_path / "config.json", CONFIG)
    assert read_model(str(tmp_path)).hf_quant_config is None
    write(tmp_path / "hf_quant_config.json", {"quantization": {"quant_algo": 8}})
    model = read_model(f"{tmp_path}/")
    assert model.source.kind == "path"
    assert model.quantization is not None
    with pytest.raises(
        InputError, match=r"^hf_quant_config\.json: quantization\.quant_algo: expected a string, got 8$"
    ):
        model.quantization.fields.object("quantization").string("quant_algo")


def test_folder_without_a_config(tmp_path: Path) -> None:
    assert "has no config.json" in refusal(str(tmp_path)).message


def test_errors_name_the_file_that_they_are_in(tmp_path: Path) -> None:
    write(tmp_path / "config.json", CONFIG)
    (tmp_path / "hf_quant_config.json").write_text('{"a": {"b": NaN}}')
    assert refusal(str(tmp_path)).path == "hf_quant_config.json: a.b"


def test_stdin() -> None:
    model = read_model("-", stdin=io.BytesIO(b'{"architectures": ["A"]}'))
    assert (model.source, model.architecture) == (Source(kind="inline", id="stdin"), "A")
    assert refusal("-", stdin=io.BytesIO(b"")).path == "stdin"


def test_stdin_is_read_no_further_than_the_bound() -> None:
    stdin = io.BytesIO(b" " * (MAX_BYTES * 2))
    assert "larger than 8 MiB" in refusal("-", stdin=stdin).message
    assert stdin.tell() == MAX_BYTES + 1


def test_a_path_that_exists_wins_over_an_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: HubServer) -> None:
    hub.add("org/name", {"config.json": b"{}"})
    write(tmp_path / "org" / "name" / "config.json", CONFIG)
    monkeypatch.chdir(tmp_path)
    assert read_model("org/name").source.kind == "path"
    assert hub.asked() == []
    assert read_model("org/name@main").source.kind == "hub"


@pytest.mark.parametrize(
    "source", ["./x", "../x", "/x/y", "~/x", "a/b/c", "config.json", "org/name/config.json", "x/", "a\\b", "."]
)
def test_what_can_only_be_a_path(source: str, hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    error = refusal(source)
    assert "no such file or folder" in error.message or "has no config.json" in error.message
    assert hub.asked() == []


@pytest.mark.parametrize(
    "source", ["https://huggingface.co/org/name", "http://x", "hf://org/name", "file:///etc/passwd"]
)
def test_urls(source: str, hub: HubServer) -> None:
    assert "is a URL, which is not read" in refusal(source).message
    assert source not in str(refusal(source))
    assert hub.asked() == []


def test_missing_on_both_sides(hub: HubServer) -> None:
    with pytest.raises(Exception, match="no file or folder has that name, either"):
        read_model("org/none")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_names_that_no_file_system_takes(name: str) -> None:
    assert refusal(name).message


def test_links_and_special_files(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("dangling", "loop"):
        assert refusal(str(tmp_path / name)).message
    assert "expected a file" in refusal("/dev/zero").message
    os.mkfifo(tmp_path / "config.json")
    assert "expected a file" in refusal(str(tmp_path)).message


def test_pipe_of_a_shell(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(json.dumps(CONFIG)), daemon=True)
    writer.start()
    assert read_model(str(pipe)).architecture == "A"
    writer.join(5)


def test_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    file = write(tmp_path / "config.json", CONFIG)
    monkeypatch.setattr(Path, "open", deny)  # file modes do not bind root
    assert "cannot be read: Permission denied" in refusal(str(file)).message


def test_dict_is_copied() -> None:
    config: dict[str, Any] = {"architectures": ["A"], "list": (1, 2)}
    model = model_from_dict(config, {"quantization": {}})
    config["architectures"].append("B")
    assert model.config.raw == {"architectures": ["A"], "list": [1, 2]}
    assert model.source == Source(kind="inline", id="inline")
    assert model.hf_quant_config is not None


def test_dict_is_held_to_the_bounds() -> None:
    itself: dict[str, Any] = {}
    itself["a"] = itself
    bad: list[Any] = [itself, {"x": float("nan")}, {"x": {1: 2}}, {"x": b""}, {"x": 10**100}]
    for config in [*bad, {"x": {1, 2}}, {"x": "\ud800"}]:
        with pytest.raises(InputError) as caught:
            model_from_dict(config)
        assert caught.value.path.startswith("config.json: ")
    with pytest.raises(InputError, match="hf_quant_config"):
        model_from_dict({}, {"x": object()})


def test_an_empty_name_is_no_name_for_the_folder_here() -> None:
    assert "is empty" in refusal("").message
