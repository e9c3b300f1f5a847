"""FSE101: what releases without a gate do to a shared expert of another format. Measured where not said otherwise."""

from typing import Any

import pytest

from tests.models import DEEPSEEK, FP8_BLOCK, FP8_TENSOR, MXFP8, QUARK_MXFP4, asked
from tests.rules.cases import (
    AWQ,
    FP8_BY_ROW,
    GLM_4_7,
    GPTQ,
    INT4,
    NVFP4,
    QWEN3_NEXT,
    compressed,
    of,
    only,
    schemes,
    shared,
)
from tests.rules.stored import Stored, blocks, breaking, found, mxfp4, plain, tensors

RULE = "FSE101"
LISTED = shared(3, 4, 5)


@pytest.mark.parametrize("version", ["0.12.0", "0.24.0", "0.28.0"])
@pytest.mark.parametrize(
    "names",
    [LISTED, ["model.layers.3.mlp.shared_experts", "model.layers.4.mlp.shared_experts"], ["shared_experts", "lm_head"]],
)
def test_fp8_blocks_beside_16_bits_load_silently_wrong(version: str, names: list[str]) -> None:
    report = asked({**FP8_BLOCK, "modules_to_not_convert": names}, vllm=version)
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("breaks", "silent_corruption", "certain")
    assert finding.layers == "3-4"
    assert [layer.findings for layer in report.layers if layer.part == "target"] == [(RULE,), (RULE,)]
    assert "256 x 256" in finding.message
    assert finding.evidence[0].startswith("quantization_config.modules_to_not_convert: ")


@pytest.mark.parametrize(
    ("exclude", "confidence"),
    [
        (["re:.*shared_experts.*"], "certain"),
        (LISTED, "certain"),
        (["*shared_experts*"], "certain"),
        (["model.layers.3.mlp.shared_experts", "model.layers.4.mlp.shared_experts"], "likely"),
    ],
)
def test_mxfp4_beside_16_bits_does_not_load(exclude: list[str], confidence: str) -> None:
    report = asked({**QUARK_MXFP4, "exclude": exclude}, vllm="0.28.0", gfx="gfx950")
    finding = only(report, RULE)
    assert (finding.consequence, finding.confidence) == ("load_fails", confidence)
    assert report.verdict == ("breaks" if confidence == "certain" else "fuses")


@pytest.mark.parametrize(
    ("block", "consequence"),
    [
        (compressed(INT4, "pack-quantized", "re:.*shared_experts.*"), "load_fails"),
        (compressed(INT4, "pack-quantized", *LISTED), "load_fails"),
        (compressed(FP8_BY_ROW, "float-quantized", "re:.*shared_experts.*"), "silent_corruption"),
        ({**AWQ, "modules_to_not_convert": ["shared_experts", "shared_head"]}, "load_fails"),
        ({**AWQ, "modules_to_not_convert": LISTED}, "load_fails"),
        ({**GPTQ, "dynamic": {"-:.*shared_experts.*": {}}}, "load_fails"),
        ({**NVFP4, "ignore": ["model.layers.*.mlp.shared_experts*"]}, "load_fails"),
        ({**MXFP8, "ignore": ["*shared_experts*"]}, "silent_corruption"),
        ({"quant_method": "modelopt", "quant_algo": "FP8", "ignore": ["*shared_experts*"]}, "silent_corruption"),
        ({**FP8_BLOCK, "weight_block_size": None, "ignored_layers": LISTED}, "silent_corruption"),
    ],
)
def test_every_method_that_leaves_the_shared_expert_out(block: dict[str, Any], consequence: str) -> None:
    report = asked(block, GLM_4_7, vllm="0.28.0", gfx="gfx950")
    assert report.verdict == "breaks"
    assert only(report, RULE).consequence == consequence


def test_two_formats_are_likely_not_to_fit() -> None:
    block = {**QUARK_MXFP4, "layer_quant_config": schemes(FP8_TENSOR, 3, 4)}
    report = asked(block, vllm="0.28.0", gfx="gfx950")
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("fuses", "load_fails", "likely")
    assert "quantization_config.layer_quant_config" in finding.message


def test_one_layer_of_many_is_told_apart() -> None:
    report = asked({**FP8_BLOCK, "ignored_layers": shared(4)}, vllm="0.28.0")
    assert only(report, RULE).layers == "4"
    assert [layer.findings for layer in report.layers] == [(), (RULE,), ()]


def test_the_draft_is_told_apart_and_does_not_break_the_target() -> None:
    report = asked({**FP8_BLOCK, "ignored_layers": shared(5)}, vllm="0.28.0")
    assert report.verdict == "fuses"
    assert of(report, RULE) == []
    (finding,) = of(report, RULE, "draft")
    assert (finding.layers, finding.message[:13]) == ("5", "Draft layer 5")


def test_fixes_are_data() -> None:
    bf16_beside_mxfp4 = only(asked({**QUARK_MXFP4, "exclude": LISTED}, vllm="0.28.0", gfx="gfx950"), RULE)
    assert [(fix.kind, fix.safety) for fix in bf16_beside_mxfp4.fixes] == [
        ("env", "lossless"),
        ("release", "lossless"),
        ("quantization_config", "changes-numerics"),
    ]
    env, release, overlay = (fix.patch for fix in bf16_beside_mxfp4.fixes)
    assert env == {"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS": "0"}
    assert release == {"vllm": "0.29.0"}
    assert overlay == {"vllm": "0.32.0", "quantization_config": {"targets": {"*shared_experts*": "mxfp4"}}}
    for patched in (
        {"environment": env, "vllm": "0.28.0"},
        release,
        {"vllm": overlay["vllm"], "overlay": overlay["quantization_config"]},
    ):
        after = asked({**QUARK_MXFP4, "exclude": LISTED}, gfx="gfx950", **patched)
        assert after.verdict in ("separate", "fuses")
        assert [one for one in after.findings if one.severity != "info"] == []


def test_a_list_that_the_release_does_not_take_is_rewritten_and_fusion_turned_off() -> None:
    block = {**FP8_BLOCK, "modules_to_not_convert": ["shared_experts"]}
    rewritten, off = only(asked(block, vllm="0.28.0", draft=False), RULE).fixes
    assert (rewritten.kind, off.kind) == ("config_patch", "env")
    patched = {**block, **rewritten.patch["quantization_config"]}
    after = asked(patched, vllm="0.28.0", draft=False, environment=off.patch)
    assert (after.verdict, after.findings) == ("separate", ())


@pytest.mark.parametrize(
    ("block", "config"),
    [
        (None, DEEPSEEK),
        (FP8_BLOCK, DEEPSEEK),
        ({**FP8_BLOCK, "modules_to_not_convert": ["lm_head", "model.layers.3.mlp.gate"]}, DEEPSEEK),
        ({**FP8_BLOCK, "modules_to_not_convert": ["mlp"]}, DEEPSEEK),
        ({**FP8_BLOCK, "modules_to_not_convert": ["model.layers.0.mlp.shared_expert_gate"]}, QWEN3_NEXT),
        ({**QUARK_MXFP4, "exclude": ["lm_head", "re:.*self_attn.*"]}, DEEPSEEK),
        ({**QUARK_MXFP4, "exclude": ["model.layers.5.shared_head.head"]}, DEEPSEEK),
        (compressed(INT4, "pack-quantized", "re:.*self_attn.*"), DEEPSEEK),
        # llm-compressor takes a name for that module alone, so that what it holds is quantized.
        (compressed(INT4, "pack-quantized", "model.layers.3.mlp.shared_experts"), DEEPSEEK),
        ({**AWQ, "modules_to_not_convert": ["lm_head"]}, DEEPSEEK),
        (GPTQ, DEEPSEEK),
        (MXFP8, DEEPSEEK),
    ],
)
def test_what_is_stored_alike_is_left_alone(block: dict[str, Any] | None, config: dict[str, Any]) -> None:
    report = asked(block, config, vllm="0.28.0", gfx="gfx950")
    assert (report.verdict, report.findings) == ("fuses", ())


@pytest.mark.parametrize(("version", "off"), [("0.29.0", False), ("0.33.0", False), ("0.28.0", True)])
def test_what_is_not_fused_is_left_alone(version: str, off: bool) -> None:
    environment = {"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS": "0"} if off else {}
    report = asked({**FP8_BLOCK, "ignored_layers": LISTED}, vllm=version, environment=environment)
    assert (report.verdict, report.findings) == ("separate", ())


def test_int8_slots_are_likely_to_take_16_bits_without_a_word() -> None:
    rows = {"num_bits": 8, "type": "int", "strategy": "channel"}
    report = asked(compressed(rows, "int-quantized", "re:.*shared_experts.*"), vllm="0.28.0")
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("fuses", "silent_corruption", "likely")


def test_an_entry_that_is_no_pattern_at_all_means_nothing() -> None:
    report = asked({**FP8_BLOCK, "ignored_layers": ["re:.*shared_experts(", "re:.*shared_head.*"]}, vllm="0.28.0")
    assert (report.verdict, report.findings) == ("fuses", ())


@pytest.mark.parametrize("targets", [["re:.*mlp\\.experts\\..*"], ["re:.*\\.experts\\.\\d+\\.(gate|up|down)_proj$"]])
def test_what_no_scheme_targets_is_stored_as_it_was(targets: list[str]) -> None:
    block = compressed(INT4, "pack-quantized")
    block["config_groups"]["group_0"]["targets"] = targets
    finding = only(asked(block, vllm="0.28.0"), RULE)
    assert (finding.consequence, finding.layers) == ("load_fails", "3-4")


def test_a_name_that_a_wrapper_stands_before_is_meant_all_the_same() -> None:
    names = [f"language_model.{name}" for name in shared(3, 4)]
    assert only(asked({**FP8_BLOCK, "ignored_layers": names}, vllm="0.28.0"), RULE).layers == "3-4"


@pytest.mark.parametrize(
    ("block", "routed", "consequence"),
    [
        ({**FP8_BLOCK, "ignored_layers": LISTED}, blocks, "silent_corruption"),
        ({**QUARK_MXFP4, "exclude": LISTED}, mxfp4, "load_fails"),
    ],
)
@pytest.mark.parametrize("version", ["0.24.0", "0.28.0"])
def test_the_headers_confirm_it(block: dict[str, Any], routed: Stored, consequence: str, version: str) -> None:
    report = found(tensors(routed, plain), block, vllm=version)
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("breaks", consequence, "certain")
    assert "the shared expert's gate weight is BF16 [256, 256], and its slot has" in finding.message


@pytest.mark.parametrize(
    ("block", "stored"),
    [({**FP8_BLOCK, "ignored_layers": LISTED}, blocks), ({**QUARK_MXFP4, "exclude": LISTED}, mxfp4)],
)
def test_the_headers_settle_that_it_was_quantized_after_all(block: dict[str, Any], stored: Stored) -> None:
    report = found(tensors(stored, stored), block, vllm="0.28.0")
    assert (report.verdict, breaking(report)) == ("fuses", [])


AUTO_ROUND: dict[str, Any] = {
    "quant_method": "auto-round",
    "bits": 4,
    "group_size": 32,
    "data_type": "mx_fp",
    "packing_format": "auto_round:llm_compressor",
}


@pytest.mark.parametrize(
    "extra",
    [
        {".*shared_experts.*": {"bits": 16}},
        {name: {"bits": 16, "data_type": "float"} for name in LISTED},
        {name.removeprefix("model."): {"bits": 16} for name in LISTED},
        {"*mlp*": {"bits": 16}, ".*shared_experts.*": {"bits": 16}},  # the first is no regular expression
    ],
)
def test_auto_round_leaves_16_bits_by_pattern_name_or_its_end(extra: dict[str, Any]) -> None:
    report = asked({**AUTO_ROUND, "extra_config": extra}, vllm="0.28.0", gfx="gfx950")
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("breaks", "load_fails", "certain")
    assert "no parameter for a 16-bit weight: KeyError" in finding.message


@pytest.mark.parametrize(
    "block",
    [
        AUTO_ROUND,
        {**AUTO_ROUND, "extra_config": {".*shared_experts.*": {"bits": 8}}},
        {**AUTO_ROUND, "extra_config": {".*self_attn.*": {"bits": 16}}},
        {**AUTO_ROUND, "extra_config": {".*shared_experts.*": {"bits": 16}, ".*experts.*": {"bits": 16}}},
        {**AUTO_ROUND, "data_type": "int", "extra_config": {".*shared_experts.*": {"bits": 16}}},
    ],
)
def test_auto_round_that_does_not_say_so_is_not_accused(block: dict[str, Any]) -> None:
    report = asked(block, vllm="0.28.0", gfx="gfx950")
    assert RULE not in {finding.rule for finding in report.findings}
