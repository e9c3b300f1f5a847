"""Quantization blocks of every class, with the names that they leave out."""

from collections.abc import Callable
from typing import Any

from conformance.fuzzing import quark
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.names import Names

Block = dict[str, Any]
Files = tuple[Block | None, Block | None]
"""The block in config.json, and the whole of hf_quant_config.json."""


def fp8(draw: Draw, names: Names) -> Files:
    """FP8, mostly with 128 by 128 blocks."""
    made: Block = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
    kind = draw.weighted({"block": 10, "tensor": 2, "static": 1, "stored": 2, "odd": 1})
    if kind in ("tensor", "static"):
        made["weight_block_size"] = None
        made["activation_scheme"] = "static" if kind == "static" else "dynamic"
    elif kind == "stored":
        made["store_dtype"] = draw.one(("mxfp4", "bfloat16", None))
    elif kind == "odd":
        made |= draw.one((
            {"weight_block_size": [64, 128]}, {"weight_block_size": [128]}, {"activation_scheme": "static"},
            {"activation_scheme": "odd"}, {"activation_scheme": None}, {"weight_block_size": "128"}, {"fmt": "e4m3"},
        ))  # fmt: skip
    if draw.chance(0.7):
        made[draw.one(("ignored_layers", "ignored_layers", "modules_to_not_convert"))] = names.entries()
    return made, None


def modelopt(draw: Draw, names: Names) -> Files:
    """Both dialects: flat in config.json, nested in hf_quant_config.json or in a block."""
    algorithm = draw.weighted({"MXFP8": 8, "NVFP4": 2, "FP8": 1, "FP8_PB_WO": 1, "FP8_PER_CHANNEL_PER_TOKEN": 1,
                               "MIXED_PRECISION": 1, "W4A16_NVFP4": 1, "INT4_AWQ": 0.3, None: 0.2})  # fmt: skip
    excluded = names.entries() if draw.chance(0.7) else ["lm_head"]
    nested: Block = {
        "quant_algo": algorithm,
        "kv_cache_quant_algo": None,
        "exclude_modules": excluded,
        "group_size": 16,
    }
    if algorithm == "MIXED_PRECISION":
        nested["quantized_layers"] = {names.pattern(): {"quant_algo": "FP8"}}
    whole: Block = {"producer": {"name": "modelopt", "version": "0.40.0"}, "quantization": nested}
    kind = "flat" if algorithm == "MXFP8" and draw.chance(0.8) else draw.weighted({"flat": 5, "nested": 2, "file": 2})
    if kind == "file":
        return None, whole
    if kind == "nested":
        return {"quant_method": "modelopt", **whole}, None
    key = draw.one(("ignore", "exclude_modules"))
    flat = {name: value for name, value in nested.items() if name != "exclude_modules"}
    groups = {"group_0": {"weights": {"num_bits": 4, "type": "float", "group_size": 16}, "targets": ["Linear"]}}
    return {"quant_method": "modelopt", **flat, key: excluded, "config_groups": groups}, None


def mxfp8(draw: Draw, names: Names) -> Files:
    """MXFP8 under its own method name."""
    key = draw.one(("ignored_layers", "ignored_layers", "modules_to_not_convert", "ignore"))
    return {"quant_method": "mxfp8", key: names.entries(), "weight_block_size": [1, 32]}, None


def compressed_tensors(draw: Draw, names: Names) -> Files:
    """compressed-tensors, under either spelling."""
    weights = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": True, "dynamic": False}
    groups = {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": None}}
    method = draw.one(("compressed-tensors", "compressed_tensors"))
    ignored = names.entries() if draw.chance(0.5) else ["lm_head"]
    return {
        "quant_method": method, "format": "pack-quantized", "config_groups": draw.one((groups, {})), "ignore": ignored,
    }, None  # fmt: skip


def integer(draw: Draw, _names: Names) -> Files:
    """AWQ, GPTQ, and what INC reads."""
    method = draw.one(("awq", "gptq", "inc", "auto-round", "AWQ", "gptq"))
    made: Block = {
        "quant_method": method,
        "bits": 4,
        "group_size": 128,
        "zero_point": True,
        "desc_act": False,
        "sym": True,
    }
    if method == "gptq" and draw.chance(0.5):
        made["dynamic"] = {draw.one(("-:.*mtp.*", "+:.*mtp.*", "-:.*attn.*")): {}}
    if draw.chance(0.1):
        made.pop(draw.one(("bits", "group_size", "sym")))
    return made, None


def others(draw: Draw, names: Names) -> Files:
    """Methods without a branch of their own, refused ones, and blocks that name none."""
    return {"quant_method": draw.one((
        "mxfp4", "torchao", "experts_int8", "fbgemm_fp8", "humming", "bitsandbytes", "moe_wna16", "foo", "",
        "fp8_per_tensor", "online", "FP8",
    )), "activation_scheme": "dynamic", "ignored_layers": names.entries()}, None  # fmt: skip


def none(_draw: Draw, _names: Names) -> Files:
    """An unquantized checkpoint."""
    return None, None


def quark_block(draw: Draw, names: Names) -> Files:
    """Quark, the class with the most to draw."""
    return quark.block(draw, names), None


KINDS: dict[Callable[[Draw, Names], Files], float] = {
    quark_block: 8, fp8: 6, modelopt: 4, mxfp8: 1.2, none: 1.5, compressed_tensors: 1, integer: 1.2, others: 0.8,
}  # fmt: skip


def files(draw: Draw, names: Names) -> Files:
    """A block of some class."""
    return draw.weighted(KINDS)(draw, names)


OVERLAYS = {"shared": 9, "part": 20, "shards": 13, "half": 3, "targets": 4, "linear": 2, "moe": 0.5, "bad": 1.2}


def overlay(draw: Draw, names: Names) -> Block:
    """What --quantization-config may hold, mostly as it should be."""
    shorthand = draw.weighted({"mxfp4": 8, "mxfp8": 2, "fp8_per_block": 1, "fp8_per_channel": 1, "fp8_per_tensor": 1})
    kind = draw.weighted(
        {"shared": 9, "part": 20, "shards": 13, "half": 3, "targets": 4, "linear": 2, "moe": 0.5, "bad": 1.2}
    )
    if kind == "bad":
        return _bad_overlay(draw, names, shorthand)
    made: Block = {}
    shared = names.sites[0].shared.rpartition(".")[2]
    if kind == "shared":
        made["targets"] = {f"*{shared}*": shorthand}
    elif kind == "part":
        made["targets"] = {f"*{shared}.{draw.one(('down_proj', 'gate_up_proj'))}": shorthand}
    elif kind == "half":
        made["targets"] = {f"*{shared}.{draw.one(('gate_proj', 'up_proj'))}": shorthand}
    elif kind == "shards":
        leaves = draw.some(("gate_proj", "up_proj", "down_proj", "*"), 2)
        made["targets"] = {
            f"*{shared}.{leaf}": draw.one((shorthand, "mxfp4", "mxfp8", "int8_per_channel_weight_only"))
            for leaf in leaves
        }
    elif kind == "targets":
        values = (shorthand, shorthand, "mxfp8", "mxfp4", "int8_per_channel_weight_only")
        made["targets"] = {names.pattern(): draw.one(values) for _ in range(draw.one((1, 2, 2, 3)))}
    elif kind == "linear":
        made["linear"] = draw.one((shorthand, {"weight": shorthand}, {"weight": "fp8_per_tensor_static"}))
    else:
        made["moe"] = draw.one((shorthand, "nvfp4_per_token", "int8_per_channel_weight_only"))
    if draw.chance(0.25):
        made["ignore"] = names.entries() if draw.chance(0.5) else [names.pattern()]
    return made


def _bad_overlay(draw: Draw, names: Names, shorthand: str) -> Block:
    pattern = names.pattern()
    return draw.one((
        {"targets": {pattern: "foo"}}, {"targets": {"re:(": shorthand}},
        {"targets": {pattern: "mxfp4"}, "linear": "mxfp4"},
        {"tagets": {pattern: shorthand}}, {"ignore": [pattern]}, {"linear": "int8_per_channel_weight_only"},
        {"targets": [pattern]}, {"linear": {"weight": "int4_per_group_32"}}, {"targets": {}}, {},
        {"linear": {"weight": "fp8_per_tensor_static", "activation": "mxfp8"}}, {"linear": "nope"},
        {"moe": {"weigth": "mxfp4"}},
    ))  # fmt: skip
