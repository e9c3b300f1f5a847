"""Blocks and overlays that vLLM 0.33.0 refuses before it builds anything: what it raises, word for word."""

from typing import Any

import pytest

from tests.models import FP8_BLOCK, FP8_TENSOR, QUARK_MXFP4, asked

CONFIG, MODEL, ARGS = "VllmConfig", "ModelConfig", "QuantizationConfigArgs"


def without(block: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != key}


@pytest.mark.parametrize(
    ("block", "by", "words"),
    [
        (without(FP8_BLOCK, "activation_scheme"), CONFIG, "Cannot find any of ['activation_scheme'] in the model's"),
        ({**FP8_BLOCK, "activation_scheme": "weird"}, CONFIG, "Unsupported activation scheme weird"),
        (
            {**FP8_BLOCK, "weight_block_size": [1, 2, 3]},
            CONFIG,
            "The quantization block size of weight must have 2 dimensions, but got 3 dimensions",
        ),
        (
            {**FP8_BLOCK, "activation_scheme": "static"},
            CONFIG,
            "The block-wise quantization only supports dynamic activation scheme for now, but got static",
        ),
        ({"quant_method": "foo"}, MODEL, "Unknown quantization method: foo. Must be one of ['awq', 'auto_awq', 'fp8',"),
        ({"quant_method": "humming"}, MODEL, "humming quantization is currently not supported in rocm."),
        ({"quant_method": "fbgemm_fp8"}, MODEL, "('The quantization method %s is deprecated and will be removed"),
        (without(QUARK_MXFP4, "export"), CONFIG, "The export key should be included in the configurations of Quark"),
        (
            {**QUARK_MXFP4, "export": {"kv_cache_group": ["*k_proj"]}},
            CONFIG,
            "The Quark quantized model has the kv_cache_group parameter setting, but no kv_cache quantization",
        ),
        ({"quant_method": "modelopt", "quant_algo": "X"}, CONFIG, "ModelOpt currently only supports: ['FP8', "),
        ({"quant_method": "modelopt"}, CONFIG, "Missing 'quant_algo' in quantization config"),
        (
            {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "ABC"}},
            MODEL,
            "Unknown ModelOpt quant algo: ABC",
        ),
        (
            {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4"}},
            CONFIG,
            "NVFP4 quantization requires the following fields in hf_quant_config.json: ['group_size', "
            "'kv_cache_quant_algo', 'exclude_modules']",
        ),
        (
            {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"},
            CONFIG,
            "Cannot find the config file for modelopt_mixed",
        ),
        ({"quant_method": "awq"}, CONFIG, "Cannot find any of ['w_bit', 'bits'] in the model's quantization config."),
        ({"quant_method": "gptq", "bits": 4}, CONFIG, "Cannot find any of ['group_size'] in the model's"),
    ],
)
def test_a_block_is_refused(block: dict[str, Any], by: str, words: str) -> None:
    report = asked(block)
    assert report.verdict == "fails"
    assert report.startup_error is not None
    assert report.startup_error.type == "ValidationError"
    assert report.startup_error.message.startswith(f"1 validation error for {by}\n  Value error, {words}")
    assert {layer.decision.decision for layer in report.layers} == {"undecided"}


@pytest.mark.parametrize(
    ("block", "type_", "words"),
    [
        (without(QUARK_MXFP4, "exclude"), "TypeError", "'NoneType' object is not iterable"),
        ({**QUARK_MXFP4, "exclude": None}, "TypeError", "'NoneType' object is not iterable"),
        (without(QUARK_MXFP4, "layer_type_quant_config"), "AttributeError", "'NoneType' object has no attribute 'get'"),
        ({**QUARK_MXFP4, "export": {}}, "TypeError", "object of type 'NoneType' has no len()"),
        ({"quant_method": "fp8_per_tensor"}, "NotImplementedError", "OnlineQuantizationConfig does not support"),
    ],
)
def test_a_block_that_breaks_the_start(block: dict[str, Any], type_: str, words: str) -> None:
    report = asked(block)
    assert report.verdict == "fails"
    assert report.startup_error is not None
    assert report.startup_error.type == type_
    assert report.startup_error.message.startswith(words)


@pytest.mark.parametrize(
    ("overlay", "words"),
    [
        ({"tagets": {}}, f"1 validation error for {ARGS}\ntagets\n  Unexpected keyword argument"),
        (
            {"targets": {"*x*": "foo"}},
            f"1 validation error for {ARGS}\ntargets\n  Value error, targets[*x*] = foo is not a valid online "
            "shorthand name; expected one of ['fp8_per_block', 'fp8_per_channel', 'fp8_per_tensor', "
            "'int8_per_channel_weight_only', 'mxfp4', 'mxfp8', 'nvfp4_per_token']",
        ),
        (
            {"targets": {"*x*": "mxfp4"}, "linear": "mxfp4"},
            f"1 validation error for {ARGS}\n  Value error, quantization_config.targets is mutually exclusive with "
            "quantization_config.linear/moe, got targets={'*x*': 'mxfp4'}, "
            "linear=QuantKey(u8,scale(u8,static,GroupShape(row=1, col=32)),symmetric), moe=None.",
        ),
        (
            {"linear": "int8_per_channel_weight_only"},
            f"1 validation error for {ARGS}\nlinear\n  Value error, online shorthand 'int8_per_channel_weight_only' "
            "does not define a linear spec",
        ),
        (
            {"ignore": ["x"]},
            f"1 validation error for {CONFIG}\n  Value error, OnlineQuantizationConfig requires at least one of "
            "quantization_config.linear, quantization_config.moe, or quantization_config.targets to be set.",
        ),
    ],
)
def test_an_overlay_is_refused(overlay: dict[str, Any], words: str) -> None:
    report = asked(QUARK_MXFP4, overlay=overlay)
    assert report.verdict == "fails"
    assert report.startup_error is not None
    assert (report.startup_error.type, report.startup_error.message) == ("ValidationError", words)


def test_an_overlay_without_a_checkpoint_block_asks_for_nothing() -> None:
    assert asked(None, overlay={"ignore": ["x"]}).verdict == "fuses"


@pytest.mark.parametrize("block", [{"quant_method": ""}, {"activation_scheme": "dynamic"}])
def test_a_block_without_a_method_counts_as_none(block: dict[str, Any]) -> None:
    report = asked(block)
    assert report.quantization is None
    assert report.verdict == "fuses"


def test_a_scheme_that_routed_experts_cannot_have() -> None:
    odd = {"weight": {"dtype": "int2"}, "input_tensors": None}
    report = asked({**QUARK_MXFP4, "global_quant_config": odd}, overlay={"targets": {"*shared_experts*": "mxfp4"}})
    assert report.layers[0].decision.error is not None
    assert report.layers[0].decision.error.type == "RuntimeError"
    assert report.layers[1].decision.decision == "undecided"


def test_schemes_for_the_cache_are_not_compared() -> None:
    cache = {**FP8_TENSOR, "output_tensors": {"dtype": "fp8_e4m3"}}
    block = {
        **QUARK_MXFP4,
        "export": {"kv_cache_group": ["*k_proj", "*v_proj"]},
        "layer_quant_config": {"*k_proj": cache, "*v_proj": cache},
    }
    assert asked(block).verdict == "fuses"
    differing = {**FP8_TENSOR, "output_tensors": {"dtype": "int8"}}
    block["layer_quant_config"] = {"*k_proj": cache, "*v_proj": differing}
    assert asked(block).verdict == "fails"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"weight": "mxfp4"}, "online quantization for LinearBase with weight=QuantKey(u8,scale(u8,dynamic,"),
        (
            {"weight": "fp8_per_tensor_static", "activation": "mxfp8"},
            "activation override (activation=QuantKey(f8e4m3fnuz,scale(u8,dynamic,GroupShape(row=1, col=32)),symmetric)"
            ") is not yet supported for online Fp8PerTensorOnlineLinearMethod",
        ),
    ],
)
def test_a_linear_spec_without_a_method_breaks_the_first_module(spec: dict[str, str], words: str) -> None:
    report = asked(QUARK_MXFP4, overlay={"linear": spec})
    assert report.startup_error is not None
    assert report.startup_error.type == "ValueError"
    assert report.startup_error.message.startswith(words)
    assert {layer.decision.decision for layer in report.layers} == {"undecided"}
    reached = asked(QUARK_MXFP4, overlay={"linear": spec, "ignore": ["*self_attn*", "*layers.[0-2].*"]})
    assert [layer.decision.decision for layer in reached.layers] == ["error", "undecided", "undecided"]


def test_the_transformers_backend_builds_its_experts_before_any_linear_module() -> None:
    config = {"architectures": ["SolarOpenForCausalLM"], "num_hidden_layers": 2}
    report = asked(QUARK_MXFP4, config, overlay={"linear": {"weight": "mxfp4"}})
    assert report.startup_error is not None
    assert [layer.decision.decision for layer in report.layers] == ["separate", "separate"]
    listless = asked(without(QUARK_MXFP4, "exclude"), config)
    assert listless.startup_error is not None
    assert listless.startup_error.type == "TypeError"


def test_exceptions_may_stand_in_for_the_scheme_of_all() -> None:
    no_global = without(QUARK_MXFP4, "global_quant_config")
    assert asked(no_global).verdict == "fails"
    assert asked({**no_global, "layer_quant_config": {"*": FP8_TENSOR}}).verdict == "fuses"
