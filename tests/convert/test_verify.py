"""What `fse verify` finds in a conversion that is no longer what was written."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from fse_core.convert.journal import FOLDER
from fse_core.convert.plan import MANIFEST, SUMS, make_plan
from fse_core.convert.run import run
from fse_core.convert.verify import verify
from fse_core.errors import InputError
from fse_core.target import Target
from tests.convert.conftest import Counter
from tests.convert.tiny import read_shard, write_json, write_shard

FIRST = "model-00001-of-00003.safetensors"
UP = "model.layers.0.mlp.shared_experts.up_proj.weight"


@pytest.fixture(scope="module")
def converted(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("converted") / "out"
    run(make_plan(source), out, Counter())
    return out


@pytest.fixture
def folder(converted: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(converted, tmp_path / "out"))


def flip(path: Path, place: int = -1) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def grow(folder: Path) -> None:
    with (folder / "tokenizer.json").open("a") as file:
        file.write(" ")


def reshape(folder: Path) -> None:
    tensors = read_shard(folder / FIRST)
    dtype, (rows, columns), data = tensors[UP]
    tensors[UP] = dtype, (columns, rows), data
    write_shard(folder / FIRST, tensors)


def undo(folder: Path) -> None:
    """The config as it was: the shared experts are excluded again."""
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"]["exclude"].append("re:.*shared_experts.*")
    write_json(folder / "config.json", config)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda folder: flip(folder / FIRST), f"{FIRST}: its SHA-256 is not the one that was written"),
        (grow, "tokenizer.json: expected 3 bytes, got 4"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "tokenizer.json: is missing"),
        (reshape, rf"{UP}: expected U8 \[128, 64\], got U8 \[64, 128\]"),
        (lambda folder: (folder / FOLDER).mkdir(), f"{FOLDER}: is left of a conversion"),
    ],
)
def test_a_fault(folder: Path, change: Callable[[Path], None], fault: str) -> None:
    change(folder)
    found = verify(folder)
    assert not found.sound
    with pytest.raises(AssertionError, match=fault):
        raise AssertionError("\n".join(found.faults))


def test_a_config_that_was_changed_back(folder: Path) -> None:
    undo(folder)
    found = verify(folder)
    assert [answer.accepts for answer in found.accepted] == [False] * 5
    assert found.accepted[-1].why == "Quark excludes shared experts at model.layers.0.mlp.shared_experts"
    assert any(fault.startswith("config.json") for fault in found.faults)


def test_a_number_of_gpus_that_no_release_starts_with(folder: Path) -> None:
    found = verify(folder, targets=[Target(gfx="gfx950", tp=3)])
    assert not any(answer.accepts for answer in found.accepted)
    assert {answer.why for answer in found.accepted} == {
        "ValueError: Total number of attention heads (16) must be divisible by tensor parallel size (3)."
    }


def test_one_release_and_one_way_to_serve(folder: Path) -> None:
    found = verify(folder, releases=["0.33.0"], targets=[Target(gfx="gfx90a")])
    assert [(answer.release, answer.accepts) for answer in found.accepted] == [("0.33.0", False)]
    assert found.faults == ()
    assert not found.sound


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "it is no finished conversion"),
        ("{", "is not JSON"),
        ("[]", "expected the manifest"),
        ('{"files": {"a": 1}, "tensors": {}}', "expected the manifest"),
        ('{"files": {}, "tensors": {}, "quantization": "Nothing"}', "names no quantization class"),
    ],
)
def test_no_manifest(folder: Path, text: str | None, words: str) -> None:
    if text is None:
        (folder / MANIFEST).unlink()
    else:
        (folder / MANIFEST).write_text(text)
    with pytest.raises(InputError, match=words):
        verify(folder)


def test_a_manifest_of_odd_values(folder: Path) -> None:
    document = json.loads((folder / MANIFEST).read_text())
    document["files"]["config.json"] = {"size": "many"}
    document["tensors"] = {"x": {"payload": 1}, "y": {"payload": {}, "scale": {}}}
    write_json(folder / MANIFEST, document)
    faults = verify(folder).faults
    assert faults[0] == "SHA256SUMS: holds other sums than fse-convert.json"
    assert "fse-convert.json: config.json: expected how it was written, got null" in faults
    assert "config.json: expected many bytes" in "\n".join(faults)


def rewrite(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        document = json.loads((folder / MANIFEST).read_text())
        change(document)
        write_json(folder / MANIFEST, document)

    return apply


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (rewrite(lambda document: document["tensors"].clear()), ["fse-convert.json: lists no converted tensor"]),
        (
            rewrite(lambda document: document["files"].pop("config.json")),
            ["config.json: is not in fse-convert.json", "SHA256SUMS: holds other sums than fse-convert.json"],
        ),
        (
            rewrite(lambda document: document["files"][FIRST].pop("sha256")),
            [
                "SHA256SUMS: holds other sums than fse-convert.json",
                f"fse-convert.json: {FIRST}: has no SHA-256, though it was rewritten",
            ],
        ),
        (
            rewrite(lambda document: document["files"]["tokenizer.json"].pop("size")),
            ["tokenizer.json: expected None bytes, got 3"],
        ),
        (
            lambda folder: shutil.copy(folder / FIRST, folder / "more.safetensors"),
            ["more.safetensors: is not in fse-convert.json"],
        ),
        (lambda folder: (folder / SUMS).unlink(), ["SHA256SUMS: is missing"]),
        (lambda folder: (folder / SUMS).write_text(""), ["SHA256SUMS: holds other sums than fse-convert.json"]),
    ],
)
def test_what_the_manifest_leaves_unsaid(folder: Path, change: Callable[[Path], object], expected: list[str]) -> None:
    change(folder)
    assert list(verify(folder).faults) == expected


def test_an_empty_manifest(folder: Path) -> None:
    rewrite(lambda document: document.update(files={}, tensors={}))(folder)
    found = verify(folder)
    assert not found.sound
    assert f"{FIRST}: is not in fse-convert.json" in found.faults
