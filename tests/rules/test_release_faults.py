"""FSE150 with the faults that the releases' data states: since when, until when, and whom they strike."""

from typing import Any

import pytest

from fse_core import releases
from tests.models import DEEPSEEK, FP8_BLOCK, QUARK_MXFP4, asked
from tests.rules.cases import FP8_BY_ROW, FP8_ROWS, GLM_4_7_FLASH, QWEN3_NEXT, compressed, of, shared

RULE = "FSE150"
FUSION = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"
V32 = {**DEEPSEEK, "architectures": ["DeepseekV32ForCausalLM"], "model_type": "deepseek_v32"}
GLM_5 = {**DEEPSEEK, "architectures": ["GlmMoeDsaForCausalLM"], "model_type": "glm_moe_dsa"}
V4: dict[str, Any] = {
    "architectures": ["DeepseekV4ForCausalLM"],
    "model_type": "deepseek_v4",
    "num_hidden_layers": 2,
    "n_shared_experts": 1,
    "expert_dtype": "fp4",
}
QWEN3_5: dict[str, Any] = {
    "architectures": ["Qwen3_5MoeForConditionalGeneration"],
    "model_type": "qwen3_5_moe",
    "text_config": {**QWEN3_NEXT, "model_type": "qwen3_5_moe_text"},
}
QUARK_ROWS = {**QUARK_MXFP4, "global_quant_config": FP8_ROWS}
QUARK_WITHOUT_SHARED = {**QUARK_MXFP4, "exclude": shared(0, 1, 2, 3, name="shared_expert")}
OFF = {"environment": {FUSION: "0"}}
TRITON = {"moe_backend": "triton"}


@pytest.mark.parametrize(
    ("name", "first", "last", "block", "config", "options", "verdict"),
    [
        ("aiter_without_fusion", "0.11.1", "0.11.2", FP8_BLOCK, DEEPSEEK, OFF, "separate"),
        ("slot_not_routed", "0.11.1", "0.11.2", QUARK_MXFP4, DEEPSEEK, {}, "fuses"),
        ("row_scales", "0.11.1", "0.13.0", QUARK_ROWS, DEEPSEEK, {}, "fuses"),
        ("glm4_moe_lite_loader", "0.15.0", "0.24.0", None, GLM_4_7_FLASH, {}, "separate"),
        ("qwen3_5_unfilled", "0.21.0", "0.24.0", None, QWEN3_5, {}, "breaks"),
        ("qwen3_next_quark_lost", "0.25.0", "0.28.0", QUARK_WITHOUT_SHARED, QWEN3_NEXT, {}, "separate"),
        ("triton_drops_shared", "0.25.0", "0.28.0", FP8_BLOCK, DEEPSEEK, TRITON, "fuses"),
        ("glm4_moe_lite_row_scales", "0.25.0", releases.known()[-1], QUARK_ROWS, GLM_4_7_FLASH, {}, "breaks"),
        ("deepseek_v4_gate_hole", "0.30.0", "0.32.0", FP8_BLOCK, V4, {}, "breaks"),
        ("deepseek_v32_loader", "0.31.0", "0.31.0", FP8_BLOCK, V32, {}, "breaks"),
        ("deepseek_v32_loader", "0.31.0", "0.31.0", None, GLM_5, {}, "breaks"),
    ],
)
def test_since_when_and_until_when(
    name: str, first: str, last: str, block: Any, config: dict[str, Any], options: dict[str, Any], verdict: str
) -> None:
    known = releases.known()
    struck = set(known[known.index(first) : known.index(last) + 1])
    for version in known:
        if options == TRITON and "triton" not in releases.load(version).choices["moe_backend"]:
            continue
        report = asked(block, config, vllm=version, gfx="gfx950", draft=False, **options)
        named = [one for one in of(report, RULE) if one.evidence[0].startswith(f"{name}:")]
        assert bool(named) is (version in struck), version
        if named:
            assert (len(named), report.verdict) == (1, verdict), version


@pytest.mark.parametrize(
    ("version", "block", "config", "options"),
    [
        ("0.11.2", FP8_BLOCK, DEEPSEEK, {}),
        ("0.11.2", compressed(FP8_BY_ROW, "float-quantized"), DEEPSEEK, {}),
        ("0.11.2", FP8_BLOCK, DEEPSEEK, {"environment": {FUSION: "0", "VLLM_ROCM_USE_AITER": "0"}}),
        ("0.24.0", None, GLM_4_7_FLASH, OFF),
        ("0.24.0", None, QWEN3_5, OFF),
        ("0.28.0", QUARK_MXFP4, QWEN3_NEXT, {}),
        ("0.28.0", QUARK_WITHOUT_SHARED, QWEN3_NEXT, OFF),
        ("0.28.0", FP8_BLOCK, DEEPSEEK, {"moe_backend": "aiter"}),
        ("0.31.0", FP8_BLOCK, V32, OFF),
        ("0.31.0", FP8_BLOCK, DEEPSEEK, {}),
        ("0.32.0", FP8_BLOCK, V4, OFF),
    ],
)
def test_whom_they_do_not_strike(version: str, block: Any, config: dict[str, Any], options: dict[str, Any]) -> None:
    assert asked(block, config, vllm=version, gfx="gfx950", draft=False, **options).findings == ()


@pytest.mark.parametrize(
    ("version", "config", "confidence"),
    [
        ("0.11.1", DEEPSEEK, "likely"),
        ("0.24.0", QWEN3_5, "certain"),
        ("0.24.0", GLM_4_7_FLASH, "likely"),
        ("0.32.0", V4, "likely"),
    ],
)
def test_drafts_have_faults_of_their_own(version: str, config: dict[str, Any], confidence: str) -> None:
    (finding,) = of(asked(FP8_BLOCK, config, vllm=version), RULE, "draft")
    assert finding.confidence == confidence
