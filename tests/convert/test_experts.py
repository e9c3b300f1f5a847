"""What is converted, and what is refused, from names, types and shapes alone."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fse_core.convert import gate
from fse_core.convert.plan import make_plan
from fse_core.errors import FseError, InputError
from fse_core.read.source import model_from_bytes
from fse_core.target import Target
from tests.convert.tiny import MX, SCHEME, Tensors, Tiny, read_shard, stored, weight, write_json, write_shard

FIRST = "model-00001-of-00003.safetensors"
RNG = random.Random(7)
EIGHT = Target(gfx="gfx950", tp=8)


def changed(tiny: Tiny, folder: Path, change: Callable[[Tensors], None]) -> Path:
    """The checkpoint without its index, and with another first shard."""
    tiny.write(folder)
    (folder / "model.safetensors.index.json").unlink()
    tensors = read_shard(folder / FIRST)
    change(tensors)
    write_shard(folder / FIRST, tensors)
    return folder


def put(name: str, shape: tuple[int, int], dtype: str = "BF16") -> Callable[[Tensors], None]:
    return lambda tensors: tensors.update({name: weight(RNG, shape, dtype)})


SHARED = "model.layers.0.mlp.shared_experts"
ROUTED = "model.layers.0.mlp.experts.0"


def refused(folder: Path, words: str, *, accept_loss: bool = False) -> None:
    with pytest.raises(FseError, match=words):
        make_plan(folder, accept_loss=accept_loss)


@pytest.mark.parametrize("shape", [(64, 128), (256, 128)])
def test_another_width_than_the_routed_experts(tmp_path: Path, shape: tuple[int, int]) -> None:
    folder = changed(Tiny(), tmp_path, put(f"{SHARED}.up_proj.weight", shape))
    refused(folder, rf"up_proj.weight: is {shape[0]}x128, and 1 x 128 wide slots take 128x128: the shared expert is")


def test_a_fused_gate_and_up(tmp_path: Path) -> None:
    def fuse(tensors: Tensors) -> None:
        del tensors[f"{SHARED}.gate_proj.weight"], tensors[f"{SHARED}.up_proj.weight"]
        tensors[f"{SHARED}.gate_up_proj.weight"] = weight(RNG, (256, 128))

    refused(changed(Tiny(), tmp_path, fuse), "gate_up_proj: expected down_proj, .*finds no slot")


def test_a_projection_that_is_missing(tmp_path: Path) -> None:
    def drop(tensors: Tensors) -> None:
        del tensors[f"{SHARED}.up_proj.weight"]

    refused(changed(Tiny(), tmp_path, drop), "expected three shared projections")


def test_static_activation_scales(tmp_path: Path) -> None:
    def add(tensors: Tensors) -> None:
        tensors[f"{ROUTED}.gate_proj.input_scale"] = ("F32", (1,), b"\0\0\x80\x3f")

    refused(changed(Tiny(format="fp8_block"), tmp_path, add), "has input_scale beside its weight")


def test_mxfp6(tmp_path: Path) -> None:
    def six(tensors: Tensors) -> None:
        tensors[f"{ROUTED}.gate_proj.weight"] = ("U8", (128, 96), bytes(128 * 96))

    refused(changed(Tiny(), tmp_path, six), "gate_proj: is MXFP6")


def test_an_unknown_format(tmp_path: Path) -> None:
    def eight(tensors: Tensors) -> None:
        tensors[f"{ROUTED}.gate_proj.weight"] = ("U8", (128, 128), bytes(128 * 128))

    refused(changed(Tiny(), tmp_path, eight), r"expected MXFP4, MXFP8, .* got U8 \[128, 128\] and a scale of U8")


def test_routed_experts_in_one_tensor(tmp_path: Path) -> None:
    def fuse(tensors: Tensors) -> None:
        for name in [name for name in tensors if ".experts." in name]:
            del tensors[name]
        tensors["model.layers.0.mlp.experts.gate_up_proj"] = ("U8", (2, 256, 64), bytes(2 * 256 * 64))

    refused(changed(Tiny(), tmp_path, fuse), r"mlp.experts: expected one tensor an expert and projection")


def test_nothing_to_convert(tmp_path: Path) -> None:
    def alike(tensors: Tensors) -> None:
        for leaf in ("gate_proj", "up_proj", "down_proj"):
            tensors.update(stored(RNG, f"{SHARED}.{leaf}", "mxfp4", (128, 128)))

    tiny = Tiny(layers=1, listed=())
    tiny.write(tmp_path)
    (tmp_path / "model.safetensors.index.json").unlink()
    tensors = read_shard(tmp_path / "model-00001-of-00002.safetensors")
    alike(tensors)
    write_shard(tmp_path / "model-00001-of-00002.safetensors", tensors)
    refused(tmp_path, "nothing to convert")


@pytest.mark.parametrize("format", ["mxfp4", "fp8_block", "mxfp8"])
def test_two_shared_experts(tmp_path: Path, format: str) -> None:
    plan = make_plan(Tiny(format=format, shared=2).write(tmp_path))
    shapes = {one.shared.role: one.outputs[0].shape for one in plan.conversions}
    half = 2 if format == "mxfp4" else 1
    assert shapes == {"gate": (256, 128 // half), "up": (256, 128 // half), "down": (128, 256 // half)}


def test_two_shared_experts_with_a_scale_a_row(tmp_path: Path) -> None:
    refused(Tiny(format="fp8_channel", shared=2).write(tmp_path), "with one scale a row are loaded wrongly")


def test_two_shared_experts_that_share_a_block(tmp_path: Path) -> None:
    tiny = Tiny(format="fp8_block", shared=2, width=64)
    refused(tiny.write(tmp_path), r"shared_experts.gate_proj: .*64 columns over tp 1 are 64 a rank, not a mul")


def test_a_layer_of_full_precision_is_left_alone(tmp_path: Path) -> None:
    def full(tensors: Tensors) -> None:
        for name in [name for name in tensors if ".experts." in name]:
            del tensors[name]
            if name.endswith(".weight"):
                tensors[name] = weight(RNG, (128, 128))

    plan = make_plan(changed(Tiny(listed=("re:.*layers.0.mlp.*", *Tiny().projections[3:])), tmp_path, full))
    assert {one.index for one in plan.conversions} == {1}
    assert [shard.name for shard in plan.shards] == ["model-00002-of-00003.safetensors"]
    oldest, *later = plan.accepted
    assert oldest.accepts  # it looks for a text in the list alone
    assert all("must be enabled for all MoE layers" in answer.why for answer in later)


def fp8_shared(tmp_path: Path) -> Path:
    """MXFP4 routed experts beside shared ones in FP8 blocks, as Quark says that."""
    spec = {"dtype": "fp8_e4m3", "qscheme": "per_block", "block_size": [128, 128], "symmetric": True}
    scheme = {**SCHEME, "weight": {**spec, "is_dynamic": False}}
    tiny = Tiny(listed=(), block={"layer_quant_config": {"*shared_experts*": scheme, "*q_proj": SCHEME}})
    tiny.write(tmp_path)
    (tmp_path / "model.safetensors.index.json").unlink()
    for layer in (0, 1):
        path = tmp_path / f"model-0000{layer + 1}-of-00003.safetensors"
        tensors = read_shard(path)
        for leaf in ("gate_proj", "up_proj", "down_proj"):
            name = f"model.layers.{layer}.mlp.shared_experts.{leaf}"
            fp8 = stored(RNG, name, "fp8_block", (128, 128))
            tensors[f"{name}.weight"] = fp8[f"{name}.weight"]
            tensors[f"{name}.weight_scale"] = fp8[f"{name}.weight_scale_inv"]
        write_shard(path, tensors)
    return tmp_path


def test_fp8_to_mxfp4_is_asked_for(tmp_path: Path) -> None:
    folder = fp8_shared(tmp_path)
    refused(folder, r"6 tensors are.*8\.6 points.*--accept-loss")
    plan = make_plan(folder, accept_loss=True)
    assert {one.source_name for one in plan.conversions} == {"fp8_block"}
    assert b'"*shared_experts*"' not in plan.texts["config.json"]
    assert b"*q_proj" in plan.texts["config.json"]


def test_routed_experts_that_are_the_exception(tmp_path: Path) -> None:
    other = {**SCHEME, "weight": {**MX, "dtype": "fp6_e2m3", "is_dynamic": False}}
    block = {"global_quant_config": other, "layer_quant_config": {"*mlp.experts*": SCHEME}}
    plan = make_plan(Tiny(block=block).write(tmp_path))
    layers = json.loads(plan.texts["config.json"])["quantization_config"]["layer_quant_config"]
    assert list(layers.items()) == [("*.mlp.shared_experts.*", SCHEME), ("*mlp.experts*", SCHEME)]
    assert all(answer.accepts for answer in plan.accepted)


def test_an_exception_that_others_have_too(tmp_path: Path) -> None:
    other = {**SCHEME, "weight": {**MX, "dtype": "fp6_e2m3", "is_dynamic": False}}
    plan = make_plan(Tiny(block={"layer_quant_config": {"*.gate*": other}}).write(tmp_path))
    layers = json.loads(plan.texts["config.json"])["quantization_config"]["layer_quant_config"]
    assert list(layers.items()) == [("*.mlp.shared_experts.*", SCHEME), ("*.gate*", other)]


def test_no_quantization(tmp_path: Path) -> None:
    tiny = Tiny()
    config = tiny.config()
    del config["quantization_config"]
    tiny.write(tmp_path)
    write_json(tmp_path / "config.json", config)
    refused(tmp_path, "has no quantization block")


@pytest.mark.parametrize(
    "block",
    [
        {"quant_method": "modelopt", "quant_algo": "FP8", "ignore": []},
        {"quant_method": "compressed-tensors", "config_groups": {}, "ignore": ["re:.*shared_experts.*"]},
    ],
)
def test_a_class_without_a_branch(tmp_path: Path, block: dict[str, object]) -> None:
    refused(
        replace(Tiny(format="mxfp8"), block=block).write(tmp_path), "no known vLLM release has a branch in its gate"
    )


def test_a_release_that_fuses_and_answers_wrongly(tmp_path: Path) -> None:
    """As many routed experts as groups: a known fault of all of them."""
    refused(Tiny(experts=2).write(tmp_path), "no release would fuse it once converted; vLLM .* has a known fault")


def test_scales_that_a_release_has_no_parameter_for(tmp_path: Path) -> None:
    refused(
        Tiny("minimax", "fp8_block").write(tmp_path),
        "no release would fuse it once converted; .* experts' gate weight_scale_inv .* no parameter that it goes to",
    )


def test_gpus_that_cut_a_block(tmp_path: Path) -> None:
    plan = make_plan(Tiny("glm", "fp8_block").write(tmp_path / "in"))
    model = plan.checkpoint.model
    answers = gate.ask(model_from_bytes(plan.texts["config.json"], source=model.source), ["0.33.0"], [EIGHT])
    assert [answer.accepts for answer in answers] == [False]
    assert "at tp 8 each GPU has 16 of the 128 rows" in answers[0].why


def test_modelopt_in_its_own_file_alone(tmp_path: Path) -> None:
    tiny = Tiny(format="mxfp8")
    tiny.write(tmp_path)
    config = tiny.config()
    block = config.pop("quantization_config")
    write_json(tmp_path / "config.json", config)
    inner = {"quant_algo": "MXFP8", "kv_cache_quant_algo": None, "exclude_modules": block["ignore"]}
    document = {"producer": {"name": "modelopt"}, "quantization": inner}
    write_json(tmp_path / "hf_quant_config.json", document)
    refused(tmp_path, "does not start with it")


def test_an_unknown_architecture(tmp_path: Path) -> None:
    tiny = Tiny()
    tiny.write(tmp_path)
    text = (tmp_path / "config.json").read_text()
    (tmp_path / "config.json").write_text(text.replace("DeepseekV3ForCausalLM", "NobodyForCausalLM"))
    with pytest.raises(InputError, match="NobodyForCausalLM"):
        make_plan(tmp_path)


@pytest.mark.parametrize("name", ["bias", "pre_quant_scale", "weight_zero_point", "input_scale", "weight_scale"])
def test_what_stands_beside_a_shared_weight_is_not_lost(tmp_path: Path, name: str) -> None:
    def add(tensors: Tensors) -> None:
        tensors[f"{SHARED}.up_proj.{name}"] = ("F32", (1,), b"\0\0\x80\x3f")

    refused(
        changed(Tiny(), tmp_path, add), rf"up_proj: has {SHARED}.up_proj.{name} beside its weight, which would be lost"
    )


def test_what_stands_beside_a_shared_weight_of_fp8_is_not_lost(tmp_path: Path) -> None:
    folder = fp8_shared(tmp_path)
    tensors = read_shard(folder / FIRST)
    tensors[f"{SHARED}.up_proj.input_scale"] = ("F32", (1,), b"\0\0\x80\x3f")
    write_shard(folder / FIRST, tensors)
    refused(folder, "up_proj.input_scale beside its weight", accept_loss=True)
