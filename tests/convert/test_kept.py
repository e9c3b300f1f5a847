"""What a conversion keeps: the characters of texts, who may read a file, and the truth of the index."""

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from fse_core.convert.plan import MANIFEST, SUMS, make_plan
from fse_core.convert.progress import Bar
from fse_core.convert.run import run
from fse_core.convert.verify import verify
from fse_core.errors import InputError
from fse_core.quantize import formats
from fse_core.read.model import CONFIG_FILE, HF_QUANT_FILE
from fse_core.read.safetensors.facts import INDEX_FILE
from tests.convert.conftest import Counter
from tests.convert.tiny import Tiny, read_all, read_shard, tree, write_json, write_shard

FIRST = "model-00001-of-00003.safetensors"


def converted(source: Path) -> Path:
    out = source.parent / "out"
    run(make_plan(source), out, Counter())
    return out


@pytest.mark.parametrize("end", [b"\r\n", b"\r", b"\n"])
def test_ends_of_lines(tmp_path: Path, end: bytes) -> None:
    source = Tiny(format="mxfp8").write(tmp_path / "in")
    (source / HF_QUANT_FILE).write_text(
        '{\n"quantization": {\n"quant_algo": "MXFP8",\n"exclude_modules": ["lm_head"]\n}\n}\n'
    )
    names = (CONFIG_FILE, INDEX_FILE, HF_QUANT_FILE, "tokenizer.json")
    plain = {name: (source / name).read_bytes() for name in names}
    for name, data in plain.items():
        (source / name).write_bytes(data.replace(b"\n", end))
    out = converted(source)
    for name in names:
        lines = (out / name).read_bytes().split(end)
        assert not any(b"\n" in line or b"\r" in line for line in lines)
        assert len(lines) > 1
    for name in (HF_QUANT_FILE, "tokenizer.json"):
        assert (out / name).read_bytes() == (source / name).read_bytes()
    kept = set((source / CONFIG_FILE).read_bytes().split(end))
    assert set((out / CONFIG_FILE).read_bytes().split(end)) < kept
    assert verify(out).sound


def test_characters_beyond_ascii_and_numbers_as_they_were_written(tmp_path: Path) -> None:
    source = Tiny(listed=("re:.*shared_experts.*",)).write(tmp_path / "in")
    text = (source / CONFIG_FILE).read_text(encoding="utf-8")
    odd = '{ "note" : "caf\\u00e9 é \\ud83d\\ude00 \\/" ,\t"scale": 1.0E+2, "zero": -0.0,' + text[1:]
    (source / CONFIG_FILE).write_text(odd, encoding="utf-8")
    out = converted(source)
    assert (out / CONFIG_FILE).read_text(encoding="utf-8") == odd.replace('      "re:.*shared_experts.*",\n', "")


@pytest.mark.parametrize(("name", "key"), [(CONFIG_FILE, "quantization_config"), (INDEX_FILE, "weight_map")])
def test_a_key_that_is_there_twice(tmp_path: Path, name: str, key: str) -> None:
    """Of two, a reader takes one: nothing is changed in the other."""
    source = Tiny().write(tmp_path / "in")
    text = (source / name).read_text()
    (source / name).write_text(f'{{"{key}": {{}},' + text[1:])
    with pytest.raises(InputError, match=f"{name}: .*stands t?here more than once"):
        make_plan(source)


@pytest.mark.parametrize("size", [7, 1.5e9, "12", True, None, 10**30], ids=str)
def test_the_index_tells_the_true_size(tmp_path: Path, size: object) -> None:
    source = Tiny().write(tmp_path / "in")
    index = json.loads((source / INDEX_FILE).read_text())
    write_json(source / INDEX_FILE, index | {"metadata": {"total_size": size, "total_parameters": 5}})
    out = converted(source)
    told = json.loads((out / INDEX_FILE).read_text())["metadata"]
    true = sum(len(data) for _, _, data in read_all(out).values())
    assert (type(told["total_size"]), told) == (int, {"total_size": true, "total_parameters": 5})


def as_floats(data: bytes) -> bytes:
    return b"".join(b"\0\0" + data[at : at + 2] for at in range(0, len(data), 2))


def widened(source: Path, part: str) -> None:
    """Stores the bf16 weights whose names hold `part` as 32-bit numbers, none of which is a bf16."""
    for path in source.glob("*.safetensors"):
        tensors = read_shard(path)
        for name, (dtype, shape, data) in tensors.items():
            if part in name and dtype == "BF16":
                tensors[name] = ("F32", shape, as_floats(data).replace(b"\0\0", b"\x11\0", 1))
        write_shard(path, tensors)


@pytest.mark.parametrize("format", ["mxfp4", "fp8_block", "mxfp8", "fp8_channel"])
def test_shared_experts_of_32_bit_numbers(tmp_path: Path, format: str) -> None:
    tiny = Tiny(format=format)
    source = tiny.write(tmp_path / "in")
    widened(source, ".shared_experts.")
    before, out = read_all(source), converted(source)
    after = read_all(out)
    for module in tiny.projections:
        dtype, shape, data = before[f"{module}.weight"]
        assert dtype == "F32"
        weight = torch.frombuffer(bytearray(data), dtype=torch.float32).view(shape)
        expected = formats()[format].quantize(weight).payload.contiguous().view(torch.uint8)
        assert after[f"{module}.weight"][2] == bytes(expected.flatten().tolist())
    assert verify(out).sound


def test_a_layer_of_32_bit_numbers_stays_as_it_is(tmp_path: Path) -> None:
    """A draft's experts are often not quantized at all."""
    tiny = Tiny(extra=dict(_draft()))
    source = tiny.write(tmp_path / "in")
    out = converted(source)
    before, after = read_all(source), read_all(out)
    assert all(after[name] == before[name] for name in before if ".layers.2." in name)


def _draft() -> list[tuple[str, tuple[str, tuple[int, ...], bytes]]]:
    mlp = "model.layers.2.mlp"
    modules = [f"{mlp}.shared_experts", *(f"{mlp}.experts.{number}" for number in range(4))]
    return [
        (f"{module}.{leaf}_proj.weight", ("F32", (128, 128), bytes(4 * 128 * 128)))
        for module in modules
        for leaf in ("gate", "up", "down")
    ]


def test_numbers_that_are_not_converted(tmp_path: Path) -> None:
    source = Tiny().write(tmp_path / "in")
    name = "model.layers.0.mlp.shared_experts.up_proj.weight"
    tensors = read_shard(source / FIRST)
    tensors[name] = ("U8", (256, 128), tensors[name][2])
    write_shard(source / FIRST, tensors)
    with pytest.raises(InputError, match=f"^{name}: expected bfloat16, float16, float32, or FP8 .*, got U8 "):
        make_plan(source)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_umask() -> Any:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o444, 0o664])
def test_who_may_read_a_file(tmp_path: Path, open_umask: None, bits: int) -> None:
    source = Tiny().write(tmp_path / "in")
    for path in source.rglob("*"):
        path.chmod(0o710 if path.is_dir() else bits)
    source.chmod(0o750)
    before = tree(source)
    out = converted(source)
    assert {mode(path) for path in out.rglob("*") if path.is_file()} == {bits}
    assert {path.name for path in out.iterdir()} >= {MANIFEST, SUMS}
    assert (mode(out), mode(out / "figures")) == (0o750, 0o710)
    assert tree(source) == before


def test_no_one_else_reads_what_is_not_complete(tmp_path: Path, open_umask: None) -> None:
    source = Tiny().write(tmp_path / "in")
    seen: set[int] = set()
    for path in source.rglob("*.*"):
        path.chmod(0o600)

    class Watcher(Counter):
        def advance(self, count: int) -> None:
            seen.update(mode(path) for path in (tmp_path / "out").rglob("*") if path.is_file())

    run(make_plan(source), tmp_path / "out", Watcher())
    assert seen == {0o600}


def test_a_source_that_is_read_only(tmp_path: Path) -> None:
    source = Tiny().write(tmp_path / "in")
    for path in (*source.rglob("*"), source):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        out = converted(source)
        assert mode(out) == 0o755
        assert verify(out).sound
    finally:
        source.chmod(0o755)
        (source / "figures").chmod(0o755)


@pytest.mark.parametrize(
    "name", ["ä ö 模型.txt", "two\nlines.txt", "back\\slash.txt", "\\both\n.txt", "n" * 255, "d/" * 200 + "f"]
)
def test_names_of_files(tmp_path: Path, name: str) -> None:
    source = Tiny().write(tmp_path / "à côté")
    (source / name).parent.mkdir(parents=True, exist_ok=True)
    (source / name).write_text(name)
    out = converted(source)
    assert (out / name).read_text() == name
    assert verify(out).sound
    subprocess.run(["sha256sum", "--check", "--quiet", "--strict", SUMS], cwd=out, check=True)


def test_files_that_hold_nothing(tmp_path: Path) -> None:
    source = Tiny().write(tmp_path / "in")
    for name in ("empty.txt", "stray.safetensors"):
        (source / name).write_bytes(b"")
    out = converted(source)
    assert (out / "empty.txt").stat().st_size == (out / "stray.safetensors").stat().st_size == 0
    assert verify(out).sound


def test_tensors_that_hold_nothing_and_metadata_of_any_kind(tmp_path: Path) -> None:
    source = Tiny(layers=1).write(tmp_path / "in")
    (source / INDEX_FILE).unlink()
    first = source / "model-00001-of-00002.safetensors"
    tensors = read_shard(first) | {"none": ("BF16", (0, 5), b""), "scalar": ("F32", (), b"abcd")}
    write_shard(first, tensors)
    data = first.read_bytes()
    size = int.from_bytes(data[:8], "little")
    metadata = {"é": "\u2028 \U0001f600", "empty": "", "format": "pt"}
    head = json.dumps(json.loads(data[8 : 8 + size]) | {"__metadata__": metadata}).encode()
    first.write_bytes(len(head).to_bytes(8, "little") + head + data[8 + size :])
    out = converted(source)
    after = (out / first.name).read_bytes()
    header = json.loads(after[8 : 8 + int.from_bytes(after[:8], "little")])
    assert header["__metadata__"] == metadata
    assert {name: read_shard(out / first.name)[name] for name in ("none", "scalar")} == {
        name: tensors[name] for name in ("none", "scalar")
    }


def test_hard_links_of_the_source(tmp_path: Path) -> None:
    """Another name of what is patched and rewritten still leads to what was there."""
    source, twin = Tiny().write(tmp_path / "in"), tmp_path / "twin"
    twin.mkdir()
    for path in source.iterdir():
        if path.is_file():
            os.link(path, twin / path.name)
    before = tree(twin)
    out = converted(source)
    (out / FIRST).write_bytes(b"")
    (out / CONFIG_FILE).write_text("{}")
    assert tree(twin) == before


def test_a_progress_that_had_more_to_do_than_it_was_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("fse_core.convert.progress._EVERY", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    bar = Bar()
    bar.begin(1000)
    bar.advance(3000)
    line = capsys.readouterr().err
    assert "100 %  3.0 kB of 3.0 kB" in line
    assert line.endswith("0:00 left")
