"""How each class renames the names of a quantization block."""

from typing import Any

import pytest

from tests.families.parts import parts, renamed

TEXT: dict[str, Any] = {
    "num_hidden_layers": 2,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "first_k_dense_replace": 0,
    "num_experts": 4,
    "shared_expert_intermediate_size": 8,
}


@pytest.mark.parametrize(
    ("architecture", "name", "expected"),
    [
        ("DeepseekV3ForCausalLM", "model.layers.1.mlp.experts", "model.layers.1.mlp.experts"),
        ("KimiK25ForConditionalGeneration", "language_model.layers.1.mlp", "language_model.model.layers.1.mlp"),
        ("KimiK25ForConditionalGeneration", "language_model.model.layers.1", "language_model.model.layers.1"),
        ("KimiVLForConditionalGeneration", "language_model.layers.1", "language_model.layers.1"),
        ("DeepseekOCRForCausalLM", "model.layers.1.mlp", "language_model.model.layers.1.mlp"),
        ("DeepseekOCR2ForCausalLM", "model.projector.layers", "projector.layers"),
        ("UnlimitedOCRForCausalLM", "lm_head.weight", "language_model.lm_head.weight"),
        ("DeepseekVLV2ForCausalLM", "language.model.layers.1.mlp", "language_model.model.layers.1.mlp"),
        ("PixtralForConditionalGeneration", "model.language_model.layers.1", "language_model.model.layers.1"),
        ("PixtralForConditionalGeneration", "model.layers.1", "model.layers.1"),
        ("Mistral3ForConditionalGeneration", "model.language_model.layers.1", "language_model.model.layers.1"),
        ("Mistral3ForConditionalGeneration", "model.layers.1", "language_model.model.layers.1"),
        (
            "MistralLarge3ForCausalLM",
            "layers.1.shared_experts.w2.weight",
            "model.layers.1.mlp.shared_experts.down_proj.weight",
        ),
        (
            "MistralLarge3ForCausalLM",
            "layers.1.experts.7.w1.qscale_weight",
            "model.layers.1.mlp.experts.7.gate_proj.weight_scale",
        ),
        ("MistralLarge3ForCausalLM", "layers.1.shared_experts.w2", "layers.1.shared_experts.w2"),
        ("Glm4vMoeForConditionalGeneration", "model.language_model.layers.1", "language_model.model.layers.1"),
        ("Glm5NextForConditionalGeneration", "model.visual.blocks", "visual.blocks"),
        ("Glm5NextForCausalLM", "model.language_model.layers.1", "model.language_model.layers.1"),
        ("Qwen3_5MoeForConditionalGeneration", "model.language_model.layers.1", "language_model.model.layers.1"),
        ("Qwen3_5MoeForCausalLM", "model.language_model.layers.1", "model.layers.1"),
        ("Qwen4ExpForConditionalGeneration", "lm_head.weight", "language_model.lm_head.weight"),
        ("Qwen4ExpForCausalLM", "model.language_model.layers.1", "model.layers.1"),
        ("AliceAIForCausalLM", "mtp.layers.0", "mtp.layers.0"),
        ("MiniMaxM3SparseForConditionalGeneration", "patch_merge_mlp.fc", "vision_tower.patch_merge_mlp.fc"),
        ("MiniMaxM3SparseForConditionalGeneration", "model.layers.1", "model.layers.1"),
        ("DeepseekV4ForCausalLM", "layers.1.ffn.shared_experts.w2", "model.layers.1.ffn.shared_experts.down_proj"),
        ("DeepseekV4ForCausalLM", "layers.1.ffn.experts.3.w1.scale", "model.layers.1.ffn.experts.3.w1.weight_scale"),
        ("DeepseekV4ForCausalLM", "layers.1.attn.wo_a.scale", "model.layers.1.attn.wo_a.weight_scale_inv"),
        ("DeepseekV4ForConditionalGeneration", "layers.1.ffn", "model.layers.1.ffn"),
        (
            "DeepseekV41ForCausalLM",
            "layers.1.ffn.shared_experts.w1",
            "language_model.model.layers.1.ffn.shared_experts.w1",
        ),
        ("DeepseekV41ForCausalLM", "mtp.0.ffn", "language_model.model.mtp.0.ffn"),
    ],
)
def test_target(architecture: str, name: str, expected: str) -> None:
    inner = {**TEXT, "architectures": ["MistralLarge3ForCausalLM"]}
    key = "language_config" if "OCR" in architecture or "VLV2" in architecture else "text_config"
    config = {**TEXT, "architectures": [architecture], key: inner}
    assert renamed(parts(config)[0].renames, name) == expected


def test_a_mapper_that_only_drops_still_passes_the_names_through() -> None:
    alice = {"architectures": ["AliceAIForCausalLM"], **TEXT}
    assert len(parts(alice)[0].renames) == 1


def test_drafts_of_deepseek_v4_move_to_the_layers_that_follow() -> None:
    config = {"architectures": ["DeepseekV4ForCausalLM"], "model_type": "deepseek_v4", "num_hidden_layers": 3}
    part, draft = parts(config)
    names = (*part.renames, *draft.renames)
    assert renamed(names, "mtp.0.ffn.shared_experts.w2") == "model.layers.3.ffn.shared_experts.down_proj"
    assert renamed(names, "mtp.1.ffn.experts") == "model.mtp.1.ffn.experts"
