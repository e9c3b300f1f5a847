"""A folder that is no checkpoint, or that leads out of itself, is refused by the name of the file."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from fse_core.convert.checkpoint import open_checkpoint
from fse_core.errors import InputError
from fse_core.read.safetensors.facts import INDEX_FILE

FIRST = "model-00001-of-00003.safetensors"


@pytest.fixture
def folder(source: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(source, tmp_path / "model"))


def change(folder: Path, **weights: Any) -> None:
    document = json.loads((folder / INDEX_FILE).read_text())
    document["weight_map"] |= weights
    (folder / INDEX_FILE).write_text(json.dumps(document))


@pytest.mark.parametrize("name", ["../other.safetensors", "a/b.safetensors", "/etc/passwd", "x.bin", 3, None, ".."])
def test_an_index_names_files_of_the_folder_alone(folder: Path, name: Any) -> None:
    change(folder, extra=name)
    with pytest.raises(InputError, match="expected the name of a safetensors file beside the index"):
        open_checkpoint(folder)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "expected a JSON object"),
        ('{"weight_map": []}', "weight_map"),
    ],
)
def test_no_index(folder: Path, text: str, words: str) -> None:
    (folder / INDEX_FILE).write_text(text)
    with pytest.raises(InputError, match=words):
        open_checkpoint(folder)


def test_a_shard_that_is_missing(folder: Path) -> None:
    (folder / FIRST).unlink()
    with pytest.raises(InputError, match=f"names {FIRST}, which is not in the folder"):
        open_checkpoint(folder)


def test_an_index_that_disagrees(folder: Path) -> None:
    change(folder, **{"lm_head.weight": FIRST})
    with pytest.raises(InputError, match=f"lm_head.weight: {FIRST} does not hold it"):
        open_checkpoint(folder)


def test_an_index_that_has_two_tensors_swapped(folder: Path) -> None:
    second = FIRST.replace("00001", "00002")
    name = "model.layers.0.mlp.gate.weight"
    change(folder, **{name: second})
    with pytest.raises(InputError, match=f'{name}: expected {FIRST}, where it is, got "{second}"'):
        open_checkpoint(folder)


def test_a_tensor_in_two_files(folder: Path) -> None:
    shutil.copy(folder / FIRST, folder / "more.safetensors")
    (folder / INDEX_FILE).unlink()
    with pytest.raises(InputError, match=f"is in {FIRST}, too"):
        open_checkpoint(folder)


def test_no_weights(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no .safetensors file"):
        open_checkpoint(tmp_path)
    with pytest.raises(InputError, match="expected a checkpoint folder"):
        open_checkpoint(tmp_path / "none")


def test_a_link_out_of_the_folder(folder: Path) -> None:
    (folder / "notes.txt").symlink_to("/etc/hostname")
    with pytest.raises(InputError, match=r"notes.txt: is a link that leads out of the folder"):
        open_checkpoint(folder)


def test_a_link_within_the_folder(folder: Path) -> None:
    (folder / "notes.txt").symlink_to("tokenizer.json")
    assert open_checkpoint(folder).files["notes.txt"].path == (folder / "tokenizer.json").resolve()


def test_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(InputError, match="pipe: expected a file"):
        open_checkpoint(folder)


def test_a_snapshot_of_the_hub_cache(folder: Path, tmp_path: Path) -> None:
    """There every file is a link to a blob two folders up."""
    blobs, snapshot = tmp_path / "models--o--n" / "blobs", tmp_path / "models--o--n" / "snapshots" / "c0ffee"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, path in enumerate(sorted(path for path in folder.iterdir() if path.is_file())):
        path.rename(blobs / str(number))
        (snapshot / path.name).symlink_to(f"../../blobs/{number}")
    assert len(open_checkpoint(snapshot).shards) == 3


def test_links_in_a_circle(folder: Path) -> None:
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")
    with pytest.raises(InputError, match=r"one: (is a link that leads to no file|expected a file)"):
        open_checkpoint(folder)


def test_a_name_that_is_no_text(folder: Path) -> None:
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("")
    with pytest.raises(InputError, match=r"caf\\xe9.txt: expected a file name in UTF-8") as caught:
        open_checkpoint(folder)
    str(caught.value).encode()
