"""FSE103: exclude lists that mean nothing to the gate. Measured on 0.29.0, 0.32.0 and 0.33.0."""

from typing import Any

import pytest

from tests.models import DEEPSEEK, FP8_BLOCK, QUARK_MXFP4, asked
from tests.rules.cases import of, only, shared
from tests.rules.stored import Stored, blocks, breaking, found, mxfp4, plain, tensors

RULE = "FSE103"
PARENTS = [f"model.layers.{layer}.mlp.shared_experts" for layer in (3, 4, 5)]


@pytest.mark.parametrize("version", ["0.29.0", "0.33.0"])
@pytest.mark.parametrize("names", [PARENTS, ["shared_experts"]])
def test_fp8_blocks_with_the_parent_listed(version: str, names: list[str]) -> None:
    report = asked({**FP8_BLOCK, "modules_to_not_convert": names}, vllm=version)
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("breaks", "silent_corruption", "certain")
    assert finding.layers == "3-4"


@pytest.mark.parametrize(
    ("exclude", "confidence"), [(["*shared_experts*"], "certain"), (PARENTS, "likely"), (["shared_experts"], "likely")]
)
@pytest.mark.parametrize("version", ["0.30.0", "0.33.0"])
def test_quark_with_a_glob_or_the_parent(version: str, exclude: list[str], confidence: str) -> None:
    finding = only(asked({**QUARK_MXFP4, "exclude": exclude}, vllm=version, gfx="gfx950"), RULE)
    assert (finding.consequence, finding.confidence) == ("load_fails", confidence)


@pytest.mark.parametrize(
    ("block", "key"),
    [
        ({**FP8_BLOCK, "modules_to_not_convert": ["lm_head", "shared_experts"]}, "modules_to_not_convert"),
        ({**QUARK_MXFP4, "exclude": ["lm_head", "*shared_experts*"]}, "exclude"),
    ],
)
def test_the_list_is_rewritten_so_that_the_gate_takes_it(block: dict[str, Any], key: str) -> None:
    before = asked(block, gfx="gfx950")
    fix = only(before, RULE).fixes[0]
    assert (fix.kind, fix.safety) == ("config_patch", "lossless")
    assert fix.patch["quantization_config"][key] == ["lm_head", *shared(3, 4, 5)]
    draft = next(finding.fixes[0] for finding in before.findings if finding.part == "draft")
    assert draft.patch == fix.patch, "the entry speaks of both, and nothing else does"
    after = asked({**block, **fix.patch["quantization_config"]}, gfx="gfx950")
    assert {layer.decision.decision for layer in after.layers} == {"separate"}
    assert [finding for finding in after.findings if finding.rule == RULE] == []


@pytest.mark.parametrize(
    ("entries", "layers", "listed"),
    [
        (PARENTS[:1], "3", shared(3)),
        (PARENTS[:2], "3-4", shared(3, 4)),
        ([PARENTS[1], "lm_head"], "4", ["lm_head", *shared(4)]),
    ],
)
def test_only_layers_that_the_config_speaks_of_are_listed(entries: list[str], layers: str, listed: list[str]) -> None:
    finding = only(asked({**FP8_BLOCK, "modules_to_not_convert": entries}), RULE)
    assert finding.layers == layers
    assert finding.fixes[0].patch["quantization_config"]["modules_to_not_convert"] == listed


def wrapped(architecture: str) -> dict[str, Any]:
    return {
        "architectures": [architecture],
        "model_type": "deepseek_vl_v2",
        "language_config": {**DEEPSEEK, "architectures": ["DeepseekV2ForCausalLM"], "model_type": "deepseek_v2"},
    }


def test_a_list_is_offered_where_the_class_keeps_the_names_that_it_would_hold() -> None:
    block = {**FP8_BLOCK, "modules_to_not_convert": ["shared_experts"]}
    (fix,) = only(asked(block, wrapped("DeepseekOCRForCausalLM")), RULE).fixes
    after = asked({**block, **fix.patch["quantization_config"]}, wrapped("DeepseekOCRForCausalLM"))
    assert (after.verdict, after.findings) == ("separate", ())


def test_no_list_is_offered_where_the_class_would_rename_it() -> None:
    block = {**FP8_BLOCK, "modules_to_not_convert": ["shared_experts"]}
    assert only(asked(block, wrapped("DeepseekVLV2ForCausalLM")), RULE).fixes == ()


@pytest.mark.parametrize(
    "block",
    [
        None,
        FP8_BLOCK,
        {**FP8_BLOCK, "modules_to_not_convert": ["shared_head", "model.layers.3.mlp.gate"]},
        {**QUARK_MXFP4, "exclude": ["re:.*self_attn.*", "*shared_head*"]},
    ],
)
def test_other_lists_are_left_alone(block: dict[str, Any] | None) -> None:
    report = asked(block, gfx="gfx950")
    assert (report.verdict, report.findings) == ("fuses", ())


def test_what_is_quantized_online_is_left_alone() -> None:
    overlay = {"targets": {"*shared_experts*": "mxfp4"}}
    report = asked({**QUARK_MXFP4, "exclude": ["*shared_experts*"]}, gfx="gfx950", overlay=overlay)
    assert (report.verdict, of(report, RULE)) == ("fuses", [])
    # 0.30.0 knows the target and does not quantize what it loads into a slot: read in its source.
    before = asked({**QUARK_MXFP4, "exclude": ["*shared_experts*"]}, vllm="0.30.0", gfx="gfx950", overlay=overlay)
    assert before.verdict == "breaks"


def test_what_the_gate_refuses_is_left_alone() -> None:
    report = asked({**FP8_BLOCK, "modules_to_not_convert": shared(3, 4, 5)})
    assert (report.verdict, report.findings) == ("separate", ())


@pytest.mark.parametrize(
    ("block", "routed", "consequence"),
    [
        ({**FP8_BLOCK, "modules_to_not_convert": PARENTS}, blocks, "silent_corruption"),
        ({**QUARK_MXFP4, "exclude": ["shared_experts"]}, mxfp4, "load_fails"),
    ],
)
@pytest.mark.parametrize("version", ["0.30.0", "0.33.0"])
def test_the_headers_confirm_it(block: dict[str, Any], routed: Stored, consequence: str, version: str) -> None:
    report = found(tensors(routed, plain), block, vllm=version)
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("breaks", consequence, "certain")
    assert any(fix.kind == "config_patch" for fix in finding.fixes)


@pytest.mark.parametrize(
    ("block", "stored"),
    [
        ({**FP8_BLOCK, "modules_to_not_convert": PARENTS}, blocks),
        ({**QUARK_MXFP4, "exclude": ["*shared_experts*"]}, mxfp4),
    ],
)
def test_the_headers_settle_that_it_was_quantized_after_all(block: dict[str, Any], stored: Stored) -> None:
    report = found(tensors(stored, stored), block)
    assert (report.verdict, breaking(report)) == ("fuses", [])
