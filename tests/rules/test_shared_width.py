"""FSE117: a shared expert narrower or wider than its slot. Measured on 0.24.0 to 0.33.0."""

from typing import Any

import pytest

from tests.models import DEEPSEEK, FP8_BLOCK, asked
from tests.rules.cases import QWEN3_NEXT, only
from tests.rules.stored import breaking, found, plain, tensors

RULE = "FSE117"
QWEN2: dict[str, Any] = {**QWEN3_NEXT, "architectures": ["Qwen2MoeForCausalLM"], "model_type": "qwen2_moe"}
QWEN3_5: dict[str, Any] = {
    **QWEN3_NEXT,
    "architectures": ["Qwen3_5MoeForCausalLM"],
    "model_type": "qwen3_5_moe_text",
}


@pytest.mark.parametrize("block", [None, FP8_BLOCK])
@pytest.mark.parametrize("config", [QWEN3_NEXT, QWEN3_5])
@pytest.mark.parametrize(("width", "consequence"), [(256, "silent_corruption"), (1024, "load_fails")])
def test_widths_that_differ(config: dict[str, Any], block: dict[str, Any] | None, width: int, consequence: str) -> None:
    report = asked(block, {**config, "shared_expert_intermediate_size": width})
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("breaks", consequence, "certain")
    assert f"is {width} wide (shared_expert_intermediate_size), its slot 512" in finding.message
    assert finding.layers == "0-3"


@pytest.mark.parametrize("version", ["0.21.0", "0.22.1", "0.23.0"])
def test_a_wider_one_was_cut_short_before_0_23_0(version: str) -> None:
    """What 0.20.0 does was measured with a wider shared expert of DeepSeek: it loads, and half of it is dropped."""
    finding = only(asked(None, {**QWEN3_NEXT, "shared_expert_intermediate_size": 1024}, vllm=version), RULE)
    cut = version != "0.23.0"
    assert finding.consequence == ("silent_corruption" if cut else "load_fails")
    assert ("drops the rest" in finding.message) is cut


@pytest.mark.parametrize(("wide", "consequence"), [(128, "silent_corruption"), (512, "load_fails")])
@pytest.mark.parametrize("version", ["0.24.0", "0.33.0"])
def test_a_width_that_only_the_tensors_have(wide: int, consequence: str, version: str) -> None:
    report = found(tensors(plain, plain, wide=wide), None, vllm=version)
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("breaks", consequence, "certain")
    assert f"the shared expert's gate weight is BF16 [{wide}, 256], and its slot has BF16 [256, 256]" in finding.message


def test_one_where_the_config_says_two() -> None:
    report = found(tensors(plain, plain), None, {**DEEPSEEK, "n_shared_experts": 2})
    assert only(report, RULE).evidence[1:] == (
        "w13_weight: 262144 of 2621440 bytes unset",
        "w2_weight: 131072 of 1310720 bytes unset",
    )


def test_two_as_wide_as_two_are_left_alone() -> None:
    assert breaking(found(tensors(plain, plain, wide=512), None, {**DEEPSEEK, "n_shared_experts": 2})) == []


def test_a_width_that_only_the_config_class_states() -> None:
    config = {key: value for key, value in QWEN3_NEXT.items() if key != "moe_intermediate_size"}
    assert only(asked(None, {**config, "shared_expert_intermediate_size": 256}), RULE).layers == "0-3"


@pytest.mark.parametrize(
    "config",
    [
        QWEN3_NEXT,
        QWEN3_5,
        {key: value for key, value in QWEN3_NEXT.items() if not key.endswith("intermediate_size")},
    ],
)
def test_equal_widths_are_left_alone(config: dict[str, Any]) -> None:
    report = asked(None, config)
    assert (report.verdict, report.findings) == ("fuses", ())


def test_a_class_that_does_not_fuse_is_left_alone() -> None:
    report = asked(None, {**QWEN2, "shared_expert_intermediate_size": 5632, "moe_intermediate_size": 1408})
    assert (report.verdict, breaking(report)) == ("separate", [])
