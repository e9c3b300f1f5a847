"""The index, and what does not fit between it, the files, and their headers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fse_core.errors import InputError
from fse_core.read.safetensors.collect import collect
from fse_core.read.safetensors.facts import Headers
from fse_core.read.safetensors.folder import Folder
from fse_core.read.safetensors.index import parse_index
from tests.hub_server import Hollow
from tests.safetensors_files import INDEX, file, index

A = {"a.weight": ("F32", (2,)), "a.bias": ("F32", (2,))}
B = {"b.weight": ("F32", (3,))}
ONE, TWO = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
MAP = {"a.weight": ONE, "a.bias": ONE, "b.weight": TWO}


def written(folder: Path, files: Mapping[str, Hollow | bytes]) -> Folder:
    for name, data in files.items():
        with (folder / name).open("wb") as target:
            target.write(data.head if isinstance(data, Hollow) else data)
            target.truncate(len(data))
    return Folder(folder)


def read(folder: Path, files: Mapping[str, Hollow | bytes]) -> Headers:
    return collect(written(folder, files), "full")


def told(headers: Headers) -> list[tuple[str, str, int]]:
    return [(problem.kind, problem.file, problem.count) for problem in headers.problems]


def test_a_sound_checkpoint(tmp_path: Path) -> None:
    found = read(tmp_path, {ONE: file(A), TWO: file(B, {"format": "pt"}), INDEX: index(MAP, 28)})
    assert found.problems == ()
    assert found.complete
    assert {name: tensor.file for name, tensor in found.tensors.items()} == MAP == found.listed
    assert [(one.tensors, one.metadata) for one in found.files.values()] == [(2, {}), (1, {"format": "pt"})]


def test_a_single_file_needs_no_index(tmp_path: Path) -> None:
    found = read(tmp_path, {"model.safetensors": file(A)})
    assert (found.problems, found.complete, set(found.tensors)) == ((), True, set(A))


def test_no_file_at_all(tmp_path: Path) -> None:
    assert told(read(tmp_path, {})) == [("no_files", "", 0)]


def test_a_file_that_the_index_names_and_nobody_has(tmp_path: Path) -> None:
    found = read(tmp_path, {ONE: file(A), INDEX: index(MAP, 28)})
    assert told(found) == [("missing_file", TWO, 1)]
    assert found.problems[0].tensors == ("b.weight",)
    assert "by the index holds one tensor" in found.problems[0].message


def test_a_numbered_file_that_is_not_there_and_no_index(tmp_path: Path) -> None:
    found = read(tmp_path, {"model-00002-of-00004.safetensors": file(A), "model-00004-of-00004.safetensors": file(B)})
    assert [(kind, name[6:11]) for kind, name, _ in told(found)] == [
        ("missing_file", "00001"),
        ("missing_file", "00003"),
    ]


def test_a_file_that_the_index_does_not_name_is_not_read(tmp_path: Path) -> None:
    found = read(tmp_path, {ONE: file(A), TWO: file(B), "extra.safetensors": b"no header", INDEX: index(MAP, 28)})
    assert told(found) == [("stray_file", "extra.safetensors", 0)]
    assert set(found.files) == {ONE, TWO}


def test_tensors_that_one_of_them_lacks(tmp_path: Path) -> None:
    weight_map = {**MAP, "c.weight": ONE, "b.weight": ONE, "d.weight": TWO}
    del weight_map["a.bias"]
    found = read(tmp_path, {ONE: file(A), TWO: file(B), INDEX: index(weight_map)})
    assert sorted(told(found)) == [
        ("misplaced_tensor", ONE, 1),
        ("missing_tensor", ONE, 1),
        ("missing_tensor", TWO, 1),
        ("unlisted_tensor", ONE, 1),
    ]
    tensors = {(problem.kind, problem.file): problem.tensors for problem in found.problems}
    assert tensors["missing_tensor", TWO] == ("d.weight",)
    assert tensors["misplaced_tensor", ONE] == ("b.weight",)


def test_many_tensors_are_one_problem(tmp_path: Path) -> None:
    many = {f"mtp.{number}.weight": ("U8", (1,)) for number in range(31)}
    found = read(tmp_path, {ONE: file({**A, **many}), TWO: file(B), INDEX: index(MAP)})
    assert told(found) == [("unlisted_tensor", ONE, 31)]
    assert len(found.problems[0].tensors) == 20
    assert found.problems[0].message.startswith('holds 31 tensors that the index does not name: "mtp.0.weight"')


def test_a_tensor_in_two_files(tmp_path: Path) -> None:
    found = read(tmp_path, {ONE: file(A), TWO: file({**B, "a.bias": ("F32", (2,))}), INDEX: index(MAP)})
    assert told(found) == [("doubled_tensor", TWO, 1)]
    assert found.tensors["a.bias"].file == ONE


@pytest.mark.parametrize(("total", "wrong"), [(28, False), (28.0, False), (27, True), (None, False), ("28", False)])
def test_the_size_that_the_index_states(tmp_path: Path, total: Any, wrong: bool) -> None:
    found = read(tmp_path, {ONE: file(A), TWO: file(B), INDEX: index(MAP, total)})
    assert told(found) == ([("total_size", INDEX, 0)] if wrong else [])


def test_no_size_is_compared_while_a_file_is_missing(tmp_path: Path) -> None:
    assert told(read(tmp_path, {ONE: file(A), INDEX: index(MAP, 5)})) == [("missing_file", TWO, 1)]


@pytest.mark.parametrize(
    "data", [b"", b"version https://git-lfs.github.com/spec/v1\n", file(A).head], ids=["0", "lfs", "cut"]
)
def test_a_file_that_is_none_is_a_problem_and_the_rest_is_read(tmp_path: Path, data: bytes) -> None:
    found = read(tmp_path, {ONE: data, TWO: file(B), INDEX: index(MAP, 28)})
    assert told(found) == [("unreadable_file", ONE, 0)]
    assert found.problems[0].message.startswith(ONE)
    assert (set(found.tensors), found.complete) == ({"b.weight"}, False)


def test_metadata_that_is_no_text(tmp_path: Path) -> None:
    assert told(read(tmp_path, {"model.safetensors": file(A, {"step": 3})})) == [("metadata", "model.safetensors", 0)]


def test_links_and_what_is_no_file(tmp_path: Path) -> None:
    blobs, folder = tmp_path / "blobs", tmp_path / "snapshot"
    blobs.mkdir()
    folder.mkdir()
    written(blobs, {"0": file(A)})
    (folder / ONE).symlink_to(blobs / "0")
    (folder / TWO).symlink_to(blobs / "1")
    (folder / "model-x.safetensors").mkdir()
    found = collect(Folder(folder), "full")
    assert told(found) == [("unreadable_file", TWO, 0), ("unreadable_file", "model-x.safetensors", 0)]
    assert set(found.tensors) == set(A)


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        collect(Folder(tmp_path / "gone"), "full")


@pytest.mark.parametrize(
    "name",
    [
        "../x.safetensors",
        "/etc/x.safetensors",
        "a/x.safetensors",
        "a\\x.safetensors",
        "C:x.safetensors",
        "..",
        "x.bin",
        "",
        ".safetensors",
        ".x.safetensors",
        "x\0.safetensors",
        "x.safetensors\n",
        3,
        None,
        ["x.safetensors"],
    ],
)
def test_a_way_out_of_the_folder(tmp_path: Path, name: Any) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, {ONE: file(A), INDEX: index({"a.weight": name})})
    assert 'weight_map["a.weight"]' in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"3",
        b'{"weight_map": []}',
        b"\xff",
        b"[" * 50_000,
        b'{"weight_map": {"a": "x", "a": "x"}}',
        json.dumps({"weight_map": {"\ud800": ONE}}).encode(),
    ],
)
def test_what_is_no_index(data: bytes) -> None:
    with pytest.raises(InputError, match=INDEX):
        parse_index(data)


def test_an_index_without_metadata() -> None:
    assert parse_index(json.dumps({"weight_map": MAP}).encode()).total_size is None
    assert parse_index(json.dumps({"metadata": None, "weight_map": {}}).encode()).weight_map == {}
