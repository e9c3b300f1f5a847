"""Qwen3-Next, Qwen3.5 and its successors, and AliceAI, as vLLM 0.33.0 builds small configs of them."""

from typing import Any

import pytest

from tests.families.parts import lines, parts, renamed

ALONE = "model.layers.*.mlp.shared_expert"
WRAPPED = "language_model.model.layers.*.mlp.shared_expert"
DRAFT = "mtp.layers.*.mlp.shared_expert"

NEXT: dict[str, Any] = {
    "architectures": ["Qwen3NextForCausalLM"],
    "model_type": "qwen3_next",
    "num_hidden_layers": 4,
}
TEXT: dict[str, Any] = {"model_type": "qwen3_5_moe_text", "num_hidden_layers": 3}
MOE: dict[str, Any] = {
    "architectures": ["Qwen3_5MoeForConditionalGeneration"],
    "model_type": "qwen3_5_moe",
    "text_config": TEXT,
}
MOE_ALONE: dict[str, Any] = {**TEXT, "architectures": ["Qwen3_5MoeForCausalLM"]}
EXP: dict[str, Any] = {
    "architectures": ["Qwen4ExpForConditionalGeneration"],
    "model_type": "qwen4_exp",
    "text_config": {"model_type": "qwen4_exp_text", "num_hidden_layers": 3},
}
ALICE: dict[str, Any] = {
    "architectures": ["AliceAIForCausalLM"],
    "num_hidden_layers": 2,
    "num_experts": 8,
    "shared_expert_intermediate_size": 64,
}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (NEXT, [f"Qwen3NextForCausalLM: {ALONE} [0, 1, 2, 3] x1", f"Qwen3NextMTP: {DRAFT} [0] x1"]),
        (
            {**NEXT, "decoder_sparse_step": 2, "num_nextn_predict_layers": 2},
            [f"Qwen3NextForCausalLM: {ALONE} [1, 3] x1", f"Qwen3NextMTP: {DRAFT} [1] x1"],
        ),
        (
            {**NEXT, "decoder_sparse_step": 2, "mlp_only_layers": [1]},
            [f"Qwen3NextForCausalLM: {ALONE} [3] x1", "Qwen3NextMTP: no layers"],
        ),
        ({**NEXT, "mlp_only_layers": None, "num_experts": 0}, ["Qwen3NextForCausalLM: no layers"]),
        ({**NEXT, "shared_expert_intermediate_size": 0}, ["Qwen3NextForCausalLM: no layers"]),
        ({**NEXT, "num_nextn_predict_layers": 0}, [f"Qwen3NextForCausalLM: {ALONE} [0, 1, 2, 3] x1"]),
        (
            MOE,
            [f"Qwen3_5MoeForConditionalGeneration: {WRAPPED} [0, 1, 2] x1", f"Qwen3_5MoeMTP: {DRAFT} [0] x1"],
        ),
        (
            {**MOE, "architectures": ["InternS2PreviewForConditionalGeneration"], "model_type": "intern_s2_preview"},
            [f"InternS2PreviewForConditionalGeneration: {WRAPPED} [0, 1, 2] x1", f"Qwen3_5MoeMTP: {DRAFT} [0] x1"],
        ),
        (
            {**MOE_ALONE, "mtp_num_hidden_layers": 2},
            [f"Qwen3_5MoeForCausalLM: {ALONE} [0, 1, 2] x1", f"Qwen3_5MoeMTP: {DRAFT} [0, 1] x1"],
        ),
        ({**MOE_ALONE, "mtp_num_hidden_layers": 0}, [f"Qwen3_5MoeForCausalLM: {ALONE} [0, 1, 2] x1"]),
        ({**MOE_ALONE, "shared_expert_intermediate_size": 0}, ["Qwen3_5MoeForCausalLM: no layers"]),
        ({**MOE, "text_config": {"model_type": "qwen3_5_text"}}, ["Qwen3_5MoeForConditionalGeneration: no layers"]),
        (EXP, [f"Qwen4ExpForConditionalGeneration: {WRAPPED} [0, 1, 2] x1", f"Qwen4ExpMTP: {DRAFT} [3] x1"]),
        (
            {"architectures": ["Qwen4ExpForCausalLM"], "model_type": "qwen4_exp_text", "num_hidden_layers": 2},
            [f"Qwen4ExpForCausalLM: {ALONE} [0, 1] x1", f"Qwen4ExpMTP: {DRAFT} [2] x1"],
        ),
        (ALICE, [f"AliceAIForCausalLM: {ALONE} [0, 1] x1"]),
        ({**ALICE, "shared_expert_intermediate_size": 0}, ["AliceAIForCausalLM: no layers"]),
    ],
)
def test_layers_and_drafts(config: dict[str, Any], expected: list[str]) -> None:
    assert lines(config) == expected


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({**MOE, "text_config": {**TEXT, "model_type": "qwen9_text"}}, "Invalid model_type qwen9_text"),
        ({**ALICE, "num_experts": 0}, "AliceAI requires sparse experts"),
    ],
)
def test_what_a_class_refuses_to_build(config: dict[str, Any], message: str) -> None:
    startup = parts(config)[0].startup
    assert startup is not None
    assert (startup.type, startup.message) == ("ValueError", message)


@pytest.mark.parametrize(
    ("dynamic", "quantization"),
    [
        (None, "inherited"),
        ({}, "inherited"),
        ({"-:.*mtp.*": {}}, "none"),
        ({"+:.*mtp.*": {}}, "inherited"),
        ({"-:.*visual.*": {}}, "inherited"),
    ],
)
def test_a_block_that_leaves_drafts_out(dynamic: dict[str, Any] | None, quantization: str) -> None:
    block = {"quant_method": "gptq", "dynamic": dynamic}
    assert parts({**MOE_ALONE, "quantization_config": block})[1].quantization == quantization
    in_text = {**MOE, "text_config": {**TEXT, "quantization_config": block}}
    assert parts(in_text)[1].quantization == "inherited"


def test_qwen4_exp_counts_its_draft_names_on() -> None:
    draft = parts(EXP)[1]
    assert draft.quantization == "own"
    assert renamed(draft.renames, "mtp.layers.0.mlp.experts.7.up_proj") == "mtp.layers.3.mlp.experts.7.up_proj"
    assert renamed(draft.renames, "model.layers.0.mlp.experts") == "model.layers.0.mlp.experts"
    quark = parts({**EXP, "quantization_config": {"quant_method": "quark"}})[1]
    assert quark.renames == ()
