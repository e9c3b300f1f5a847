"""A conversion changes the shared experts' tensors, the index and the block's entries, and nothing else."""

import difflib
import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

import torch

from fse_core.check import check
from fse_core.convert.disk import CannotWrite
from fse_core.convert.journal import FOLDER, Journal
from fse_core.convert.plan import MANIFEST, make_plan
from fse_core.convert.run import run
from fse_core.convert.verify import verify
from fse_core.errors import InputError
from fse_core.quantize import formats
from fse_core.read.safetensors.facts import INDEX_FILE
from fse_core.read.source import read_model
from fse_core.target import Target
from tests.convert.conftest import Counter
from tests.convert.test_experts import fp8_shared
from tests.convert.tiny import FAMILIES, FORMATS, Tiny, read_all, read_shard, tree, write_json, write_shard
from tests.output.schemas import validator

LISTED = {
    "qwen": ("re:.*shared_expert.*", "re:.*mlp\\.gate$"),
    "glm": ("re:.*shared_experts.*",),
}
ASKED = {
    "mxfp4": ("0.29.0", "0.30.0", "0.31.0", "0.32.0", "0.33.0"),
    "fp8_block": ("0.29.0", "0.30.0", "0.31.0", "0.32.0", "0.33.0"),
    "mxfp8": ("0.33.0",),
}


@pytest.mark.parametrize(
    ("family", "format"),
    [(family, kind) for family in FAMILIES for kind in FORMATS if (family, kind) != ("minimax", "fp8_block")],
)
def test_every_family_and_format(tmp_path: Path, counter: Counter, family: str, format: str) -> None:
    tiny = Tiny(family, format, listed=LISTED.get(family) if format == "mxfp4" else None)
    source, out = tiny.write(tmp_path / "in"), tmp_path / "out"
    before = tree(source)
    plan = make_plan(source)
    run(plan, out, counter)
    assert tree(source) == before
    assert counter.done == counter.total
    _check_tensors(tiny, source, out)
    _check_files(source, out)
    validator("convert").validate(json.loads((out / MANIFEST).read_bytes()))
    for release in ASKED[format]:
        target = Target(vllm=release, gfx="gfx950")
        assert check(read_model(str(source)), target).verdict == "separate"
        report = check(read_model(str(out)), target)
        assert report.verdict == "fuses"
        assert {layer.decision.decision for layer in report.layers} == {"fused"}
    verified = verify(out)
    assert verified.sound
    assert [answer.release for answer in verified.accepted] == list(ASKED[format])


def _check_tensors(tiny: Tiny, source: Path, out: Path) -> None:
    old, new = read_all(source), read_all(out)
    suffix = "weight_scale_inv" if tiny.format == "fp8_block" else "weight_scale"
    for module in tiny.projections:
        _, shape, data = old.pop(f"{module}.weight")
        weight = torch.frombuffer(bytearray(data), dtype=torch.bfloat16).view(shape)
        expected = formats()[tiny.format].quantize(weight)
        payload, scale = new.pop(f"{module}.weight"), new.pop(f"{module}.{suffix}")
        assert payload[1:] == (tuple(expected.payload.shape), _bytes(expected.payload))
        assert scale[1:] == (tuple(expected.scale.shape), _bytes(expected.scale))
    assert new == old


def _bytes(tensor: torch.Tensor) -> bytes:
    return bytes(tensor.contiguous().view(torch.uint8).flatten().tolist())


def _check_files(source: Path, out: Path) -> None:
    old, new = tree(source), tree(out)
    changed = {name for name in old if new[name] != old[name]}
    shards = {"model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors"}
    assert changed == {*shards, "config.json", "model.safetensors.index.json"}
    assert new.keys() - old.keys() == {"fse-convert.json", "SHA256SUMS"}
    kept = "model-00003-of-00003.safetensors"
    assert (out / kept).stat().st_ino == (source / kept).stat().st_ino
    assert (out / "tokenizer.json").stat().st_ino != (source / "tokenizer.json").stat().st_ino
    index, total = json.loads(new["model.safetensors.index.json"]), 0
    for path in out.glob("*.safetensors"):
        data = path.read_bytes()
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        assert header.pop("__metadata__") == {"format": "pt"}
        total += len(data) - 8 - int.from_bytes(data[:8], "little")
        assert set(header) == {name for name, shard in index["weight_map"].items() if shard == path.name}
    assert index["metadata"]["total_size"] == total
    subprocess.run(["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"], cwd=out, check=True)


def test_quark_s_scales_a_row(tmp_path: Path, counter: Counter) -> None:
    tiny = Tiny(format="fp8_channel")
    source, out = tiny.write(tmp_path / "in"), tmp_path / "out"
    run(make_plan(source), out, counter)
    _check_tensors(tiny, source, out)
    assert [answer.release for answer in verify(out).accepted if answer.accepts] == list(ASKED["mxfp4"])


def test_only_the_entries_of_the_list_change(tmp_path: Path, counter: Counter) -> None:
    source, out = Tiny(listed=("re:.*shared_experts.*",)).write(tmp_path / "in"), tmp_path / "out"
    run(make_plan(source), out, counter)
    before, after = ((folder / "config.json").read_text().splitlines() for folder in (source, out))
    changes = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
    assert changes == ['-       "re:.*shared_experts.*",']


def test_both_files_of_modelopt(tmp_path: Path, counter: Counter) -> None:
    source, out = Tiny(format="mxfp8", listed=("*.mlp.shared_experts*",)).write(tmp_path / "in"), tmp_path / "out"
    nested = {
        "quant_algo": "MXFP8",
        "kv_cache_quant_algo": None,
        "exclude_modules": ["*.mlp.shared_experts*", "lm_head"],
    }
    (source / "hf_quant_config.json").write_text(json.dumps({"producer": {"name": "modelopt"}, "quantization": nested}))
    run(make_plan(source), out, counter)
    after = json.loads((out / "hf_quant_config.json").read_text())
    assert after["quantization"] == nested | {"exclude_modules": ["lm_head"]}
    assert json.loads((out / "config.json").read_text())["quantization_config"]["ignore"] == ["*self_attn*", "lm_head"]


def test_fp8_blocks_to_mxfp4(tmp_path: Path, counter: Counter) -> None:
    source, out = fp8_shared(tmp_path / "in"), tmp_path / "out"
    run(make_plan(source, accept_loss=True), out, counter)
    tensors = read_all(out)
    assert tensors["model.layers.0.mlp.shared_experts.up_proj.weight"][:2] == ("U8", (128, 64))
    assert tensors["model.layers.0.mlp.shared_experts.up_proj.weight_scale"][:2] == ("U8", (128, 4))
    entry = json.loads((out / "fse-convert.json").read_text())["tensors"][
        "model.layers.1.mlp.shared_experts.down_proj.weight"
    ]
    assert (entry["from"], entry["to"], entry["layer"]) == ("fp8_block", "mxfp4", 1)
    assert 0.001 < entry["relative_mse"] < 0.05
    assert verify(out).sound


def test_steps_make_the_same_bytes_as_the_whole(
    source: Path, tmp_path: Path, counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fse_core.convert import numbers

    large = Tiny(format="fp8_block", width=384, layers=1).write(tmp_path / "in")
    run(make_plan(large), tmp_path / "one", counter)
    monkeypatch.setattr(numbers, "_STEP", {"cpu": 1})
    run(make_plan(large), tmp_path / "many", counter)
    assert read_all(tmp_path / "one") == read_all(tmp_path / "many")
    errors = [
        [
            record["relative_mse"]
            for record in json.loads((tmp_path / name / "fse-convert.json").read_text())["tensors"].values()
        ]
        for name in ("one", "many")
    ]
    assert errors[1] == pytest.approx(errors[0], rel=2e-5)  # five digits are kept


def test_a_second_run_does_nothing(source: Path, tmp_path: Path, counter: Counter) -> None:
    run(make_plan(source), tmp_path / "out", counter)
    before = _states(tmp_path / "out")
    run(make_plan(source), tmp_path / "out", counter)
    assert _states(tmp_path / "out") == before


def _states(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def test_what_is_not_written_to(source: Path, tmp_path: Path, counter: Counter) -> None:
    plan = make_plan(source)
    foreign, link, file = tmp_path / "foreign", tmp_path / "link", tmp_path / "file"
    foreign.mkdir()
    (foreign / "mine.txt").write_text("mine")
    link.symlink_to(tmp_path / "elsewhere")
    file.write_text("")
    for out, words in (
        (source, "never written to"),
        (source / "figures" / "out", "never written to"),
        (source.parent, "never written to"),
        (foreign, r"holds files that are none of a conversion, such as mine.txt"),
        (link, "is a link"),
        (file, "expected a folder"),
    ):
        with pytest.raises(CannotWrite, match=words):
            run(plan, out, counter)
    assert tree(foreign) == {"mine.txt": b"mine"}
    assert not (tmp_path / "elsewhere").exists()


def test_a_link_in_the_output_is_not_written_through(source: Path, tmp_path: Path, counter: Counter) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    (out / FOLDER).mkdir(parents=True)
    elsewhere.mkdir()
    (elsewhere / "config.json").write_text("mine")
    (out / "config.json").symlink_to(elsewhere / "config.json")
    (out / "figures").symlink_to(elsewhere)
    with pytest.raises(CannotWrite, match="figures: is a link"):
        run(make_plan(source), out, counter)
    (out / "figures").unlink()
    run(make_plan(source), out, counter)
    assert tree(elsewhere) == {"config.json": b"mine"}
    assert not (out / "config.json").is_symlink()


def test_another_conversion_in_the_folder(source: Path, tmp_path: Path, counter: Counter) -> None:
    out = tmp_path / "out"
    run(make_plan(source), out, counter)
    other = make_plan(Tiny("glm").write(tmp_path / "other"))
    with pytest.raises(CannotWrite, match="finished conversion of another source"):
        run(other, out, counter)
    (out / "fse-convert.json").unlink()
    (out / FOLDER).mkdir()
    (out / FOLDER / "plan").write_text("another")
    with pytest.raises(CannotWrite, match="unfinished conversion of another source"):
        run(other, out, counter)


def test_no_room(source: Path, tmp_path: Path, counter: Counter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=99))
    with pytest.raises(CannotWrite, match=r"needs [\d,]+ bytes, and the disk has 99 free"):
        run(make_plan(source), tmp_path / "out", counter)
    assert tree(tmp_path / "out") == {}


def test_the_sums_are_those_of_the_files(source: Path, tmp_path: Path, counter: Counter) -> None:
    run(make_plan(source), tmp_path / "out", counter)
    files = json.loads((tmp_path / "out" / "fse-convert.json").read_text())["files"]
    for name, record in files.items():
        data = (tmp_path / "out" / name).read_bytes()
        assert record["size"] == len(data)
        assert record.get("sha256", hashlib.sha256(data).hexdigest()) == hashlib.sha256(data).hexdigest()
    assert {record["how"] for record in files.values()} == {"rewritten", "patched", "linked", "copied"}


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        (b"\xc0\x7f", "holds Inf or NaN"),
        (b"\x80\x7f", "holds Inf or NaN"),
        (b"\x80\xff", "holds Inf or NaN"),
        (b"\x7f\x7f", "holds numbers that are too large to be quantized"),
    ],
    ids=["nan", "inf", "-inf", "largest"],
)
def test_a_weight_that_no_format_keeps(tmp_path: Path, counter: Counter, bits: bytes, words: str) -> None:
    source, out = Tiny().write(tmp_path / "in"), tmp_path / "out"
    path, name = source / "model-00002-of-00003.safetensors", "model.layers.1.mlp.shared_experts.down_proj.weight"
    tensors = read_shard(path)
    dtype, shape, data = tensors[name]
    tensors[name] = dtype, shape, data[:1000] + bits + data[1002:]
    write_shard(path, tensors)
    with pytest.raises(InputError, match=f"^{name}: {words}$"):
        run(make_plan(source), out, counter)
    assert not (out / path.name).exists()
    assert not (out / "config.json").exists()


def test_a_gpu_that_is_not_there(
    source: Path, tmp_path: Path, counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="--device: cuda is asked for"):
        run(make_plan(source), tmp_path / "out", counter, device="cuda")
    assert list(tmp_path.iterdir()) == []


def test_an_output_behind_links_in_a_circle(source: Path, tmp_path: Path, counter: Counter) -> None:
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(CannotWrite):
        run(make_plan(source), tmp_path / "circle" / "out", counter)


@pytest.mark.parametrize("metadata", [None, "none", [], 3])
def test_an_index_with_odd_metadata(tmp_path: Path, counter: Counter, metadata: object) -> None:
    source = Tiny().write(tmp_path / "in")
    index = json.loads((source / INDEX_FILE).read_text())
    write_json(source / INDEX_FILE, index | {"metadata": metadata})
    run(make_plan(source), tmp_path / "out", counter)
    after = json.loads((tmp_path / "out" / INDEX_FILE).read_text())
    assert after["metadata"] == metadata
    assert after["weight_map"].keys() > index["weight_map"].keys()


@pytest.mark.parametrize("record", ["[]", "{}", "3", '{"size": 3}', '{"size": 3, "how": "copied", "errors": []}', "["])
def test_a_journal_of_odd_records(source: Path, tmp_path: Path, counter: Counter, record: str) -> None:
    plan, out = make_plan(source), tmp_path / "out"
    run(plan, out, counter)
    before = tree(out)
    (out / MANIFEST).unlink()
    journal = Journal(out)
    with journal.locked():
        journal.start(plan.fingerprint)
    for name in before:
        (journal.folder / f"{name}.json".replace("/", "%2F")).write_text(record)
    run(plan, out, counter)
    assert tree(out) == before


def test_a_shard_s_record_without_its_errors(source: Path, tmp_path: Path, counter: Counter) -> None:
    plan, out = make_plan(source), tmp_path / "out"
    run(plan, out, counter)
    before = tree(out)
    shard = plan.shards[0].name
    record = json.loads(before[MANIFEST])["files"][shard]
    (out / MANIFEST).unlink()
    journal = Journal(out)
    with journal.locked():
        journal.start(plan.fingerprint)
    journal.note(shard, record)
    assert journal.finished(shard) == record
    run(plan, out, counter)
    assert tree(out) == before


def test_names_that_differ_in_a_percent_sign_alone(tmp_path: Path, counter: Counter) -> None:
    source, out = Tiny().write(tmp_path / "in"), tmp_path / "out"
    names = ("figures%one.txt", "figures%2Fone.txt")
    for name in names:
        (source / name).write_text(name)
    journal = Journal(out)
    assert len({journal.temporary(name) for name in (*names, "figures/one.txt")}) == 3
    run(make_plan(source), out, counter)
    assert [(out / name).read_text() for name in (*names, "figures/one.txt")] == [*names, "drawn\n"]


@pytest.mark.parametrize("name", ["tokenizer.json", "model-00001-of-00003.safetensors"])
@pytest.mark.parametrize("gone", [True, False])
def test_a_finished_conversion_that_was_damaged(
    source: Path, tmp_path: Path, counter: Counter, name: str, *, gone: bool
) -> None:
    out = tmp_path / "out"
    run(make_plan(source), out, counter)
    (out / name).unlink()
    if not gone:
        (out / name).write_bytes(b"cut off")
    with pytest.raises(CannotWrite, match=f"holds a finished conversion whose {name} is missing, or is not as large"):
        run(make_plan(source), out, counter)


def test_a_finished_conversion_without_its_tensors(source: Path, tmp_path: Path, counter: Counter) -> None:
    out = tmp_path / "out"
    run(make_plan(source), out, counter)
    document = json.loads((out / MANIFEST).read_text())
    write_json(out / MANIFEST, document | {"tensors": {}})
    with pytest.raises(InputError, match="does not list the converted tensors"):
        run(make_plan(source), out, counter)


def test_an_unfinished_conversion_is_no_source(tmp_path: Path) -> None:
    source = Tiny().write(tmp_path / "in")
    (source / FOLDER).mkdir()
    with pytest.raises(InputError, match=f"{FOLDER}: is in the source"):
        make_plan(source)
