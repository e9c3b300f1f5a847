"""Each class that keeps its shared experts apart: which layers have them, what its modules are called, which draft."""

from typing import Any

import pytest

from fse_core import releases
from fse_core.errors import InputError, Undecided
from fse_core.families import families
from fse_core.families.base import Part
from fse_core.read.source import model_from_dict
from fse_core.target import Target

MLP = "model.layers.{i}.mlp"
INNER = "language_model.model.layers.{i}.mlp"
SHARED = "shared_experts"


def parts_of(config: dict[str, Any], **target: Any) -> tuple[Part, ...]:
    model = model_from_dict(config)
    return families()[model.require_architecture()].parts(model, Target(**target), releases.load("latest"))


def names(part: Part) -> list[tuple[int, str, str]]:
    return [(layer.index, layer.experts, layer.shared) for layer in part.layers]


def named(prefix: str, indices: list[int], shared: str, experts: str) -> list[tuple[int, str, str]]:
    return [(i, f"{prefix}.{experts}".format(i=i), f"{prefix}.{shared}".format(i=i)) for i in indices]


def text(**keys: Any) -> dict[str, Any]:
    return {"text_config": {"num_hidden_layers": 4, **keys}}


BAILING = {"num_shared_experts": 1, "first_k_dense_replace": 1}
KIMI = {"num_experts": 4, "num_shared_experts": 1, "first_k_dense_replace": 1}
PANGU = {"n_routed_experts": 4, "n_shared_experts": 1, "first_k_dense_replace": 1}
QWEN = {"num_experts": 4, "shared_expert_intermediate_size": 48}
STEP = {"moe_layers_enum": "1,3"}
ERNIE_VL = {"moe_num_shared_experts": 2, "moe_layer_start_index": [1, 2], "moe_layer_end_index": [2, 3]}

TARGETS: list[tuple[str, dict[str, Any], str, list[int], str, str]] = [
    ("AfmoeForCausalLM", {"num_dense_layers": 2}, MLP, [2, 3], SHARED, "experts"),
    ("AfmoeForCausalLM", {"num_shared_experts": 0}, MLP, [], SHARED, "experts"),
    ("AriaForConditionalGeneration", text(), INNER, [0, 1, 2, 3], SHARED, "experts"),
    ("BailingMoeForCausalLM", BAILING, MLP, [1, 2, 3], SHARED, "experts"),
    ("BailingMoeV2ForCausalLM", {**BAILING, "num_shared_experts": 0}, MLP, [], SHARED, "experts"),
    ("SarvamMoEForCausalLM", BAILING, MLP, [1, 2, 3], SHARED, "experts"),
    ("BailingMoeV2_5ForCausalLM", {}, MLP, [2, 3], SHARED, "experts"),
    ("BailingMoeV2_5ForCausalLM", {"num_experts": 1}, MLP, [], SHARED, "experts"),
    ("BailingMoeV3ForCausalLM", {"first_k_dense_replace": 1}, MLP, [1, 2, 3], SHARED, "experts"),
    ("BailingMoeV3VLForConditionalGeneration", text(first_k_dense_replace=3), INNER, [3], SHARED, "experts"),
    (
        "Cohere2MoeForCausalLM",
        {"num_shared_experts": 1, "mlp_layer_types": ["sparse", "dense", "sparse", "dense"]},
        MLP,
        [0, 2],
        SHARED,
        "experts",
    ),
    ("Cohere2MoeForCausalLM", {"num_shared_experts": 2, "first_k_dense_replace": 1}, MLP, [1, 2, 3], SHARED, "experts"),
    ("Cohere2MoeForCausalLM", {}, MLP, [], SHARED, "experts"),
    ("Dots3NoteForCausalLM", {"first_k_dense_replace": 2}, INNER, [2, 3], SHARED, "experts"),
    ("Dots3NoteForCausalLM", {"n_routed_experts": None}, INNER, [], SHARED, "experts"),
    ("Ernie4_5_MoeForCausalLM", {}, MLP, [1, 2, 3], SHARED, "experts"),
    ("Ernie4_5_MoeForCausalLM", {"moe_layer_end_index": 2, "moe_layer_interval": 2}, MLP, [1], SHARED, "experts"),
    ("Ernie4_5_MoeForCausalLM", {"use_moe": False}, MLP, [], SHARED, "experts"),
    ("ExaoneMoEForCausalLM", {"first_k_dense_replace": 2}, MLP, [2, 3], SHARED, "experts"),
    ("FlintForCausalLM", {"mlp_only_layers": [0, 2]}, MLP, [1, 3], "shared_expert", "experts"),
    (
        "GraniteMoeSharedForCausalLM",
        {"shared_intermediate_size": 32},
        "model.layers.{i}",
        [0, 1, 2, 3],
        "shared_mlp",
        "block_sparse_moe.experts",
    ),
    ("GraniteMoeSWAForCausalLM", {}, MLP, [], SHARED, "experts"),
    ("GraniteMoeHybridForCausalLM", {"num_local_experts": 0}, MLP, [], SHARED, "experts"),
    ("HYV3ForCausalLM", {"first_k_dense_replace": 1}, MLP, [1, 2, 3], "shared_mlp", "experts"),
    ("HYV4ForCausalLM", {}, MLP, [1, 2, 3], SHARED, "experts"),
    ("InklingForCausalLM", {"dense_mlp_idx": 1}, MLP, [1, 2, 3], SHARED, "experts"),
    (
        "K2HorizonForCausalLM",
        {"num_experts": 4, "num_shared_experts": 1, "decoder_sparse_step": 2, "mlp_only_layers": [3]},
        MLP,
        [1],
        SHARED,
        "experts",
    ),
    (
        "KimiLinearForCausalLM",
        {**KIMI, "moe_layer_freq": 2},
        "model.layers.{i}.block_sparse_moe",
        [2],
        SHARED,
        "experts",
    ),
    ("KimiLinearForCausalLM", {**KIMI, "num_experts": None}, MLP, [], SHARED, "experts"),
    ("KimiLinearForCausalLM", {**KIMI, "num_shared_experts": None}, MLP, [], SHARED, "experts"),
    (
        "KimiK3ForConditionalGeneration",
        text(**KIMI),
        "language_model.model.layers.{i}.block_sparse_moe",
        [1, 2, 3],
        SHARED,
        "experts",
    ),
    ("LagunaForCausalLM", {}, MLP, [1, 2, 3], "shared_expert", "experts"),
    ("LagunaForCausalLM", {"shared_expert_intermediate_size": 0}, MLP, [], SHARED, "experts"),
    (
        "Llama4ForCausalLM",
        {"interleave_moe_layer_step": 2, "moe_layers": [0]},
        "model.layers.{i}.feed_forward",
        [1, 3],
        "shared_expert",
        "experts",
    ),
    (
        "Llama4ForConditionalGeneration",
        text(interleave_moe_layer_step=4),
        "language_model.model.layers.{i}.feed_forward",
        [3],
        "shared_expert",
        "experts",
    ),
    ("Llama4ForCausalLM", {"interleave_moe_layer_step": 0}, MLP, [], SHARED, "experts"),
    (
        "NemotronHForCausalLM",
        {"hybrid_override_pattern": "ME*E"},
        "model.layers.{i}.mixer",
        [1, 3],
        SHARED,
        "experts",
    ),
    (
        "NemotronHForCausalLM",
        {"hybrid_override_pattern": "EEEE", "layers_block_type": ["mamba", "moe"]},
        "model.layers.{i}.mixer",
        [1],
        SHARED,
        "experts",
    ),
    (
        "NemotronH_Nano_VL_V2",
        {"llm_config": {"hybrid_override_pattern": "ME"}},
        "language_model.model.layers.{i}.mixer",
        [1],
        SHARED,
        "experts",
    ),
    ("PanguUltraMoEForCausalLM", PANGU, MLP, [1, 2, 3], SHARED, "experts"),
    ("PanguEmbeddedForCausalLM", {}, MLP, [], SHARED, "experts"),
    ("Param2MoEForCausalLM", {"num_experts": 4}, MLP, [1, 2, 3], SHARED, "experts"),
    ("Qwen2MoeForCausalLM", {"decoder_sparse_step": 2}, MLP, [1, 3], "shared_expert", "experts"),
    ("Qwen2MoeForCausalLM", {"mlp_only_layers": [1]}, MLP, [0, 2, 3], "shared_expert", "experts"),
    ("Qwen3MoeForCausalLM", {"num_experts": 4}, MLP, [], SHARED, "experts"),
    ("Qwen3MoeForCausalLM", QWEN, MLP, [0, 1, 2, 3], "shared_expert", "experts"),
    ("Qwen3VLMoeForConditionalGeneration", text(**QWEN), INNER, [0, 1, 2, 3], "shared_expert", "experts"),
    ("SarvamMLAForCausalLM", {"num_experts": 4, "moe_layer_freq": 2}, MLP, [1, 3], SHARED, "experts"),
    ("Step3TextForCausalLM", STEP, "model.layers.{i}", [1, 3], "share_expert", "moe.experts"),
    (
        "Step3VLForConditionalGeneration",
        text(moe_layers_enum=[2]),
        "language_model.model.layers.{i}",
        [2],
        "share_expert",
        "moe.experts",
    ),
    ("Step3p5ForCausalLM", {}, "model.layers.{i}.moe", [3], "share_expert", "experts"),
    (
        "Step3p7ForConditionalGeneration",
        text(**STEP),
        "language_model.model.layers.{i}.moe",
        [1, 3],
        "share_expert",
        "experts",
    ),
    ("Step5ForCausalLM", {}, "model.layers.{i}.moe", [1, 2, 3], "share_expert", "experts"),
    ("Step5ForCausalLM", {"moe_layer_list": [2]}, "model.layers.{i}.moe", [2], "share_expert", "experts"),
    ("AXK2ForCausalLM", {"moe_layer_freq": 2}, MLP, [2], SHARED, "experts"),
    ("Dots1ForCausalLM", {"first_k_dense_replace": 1}, MLP, [1, 2, 3], SHARED, "experts"),
    ("HunYuanMoEV1ForCausalLM", {}, MLP, [0, 1, 2, 3], "shared_mlp", "experts"),
    ("SolarOpenForCausalLM", {"first_k_dense_replace": 1}, MLP, [0, 1, 2, 3], SHARED, "experts"),
]


@pytest.mark.parametrize(("architecture", "keys", "prefix", "indices", "shared", "experts"), TARGETS)
def test_target_layers(
    architecture: str, keys: dict[str, Any], prefix: str, indices: list[int], shared: str, experts: str
) -> None:
    part = parts_of({"architectures": [architecture], "num_hidden_layers": 4, **keys}, draft=False)[0]
    assert names(part) == named(prefix, indices, shared, experts)
    assert part.model_class not in releases.load("latest").wired


DRAFTS: list[tuple[str, dict[str, Any], str, list[int], str]] = [
    ("BailingMoeV2_5ForCausalLM", {}, MLP, [4], SHARED),
    ("BailingMoeV3ForCausalLM", {"first_k_dense_replace": 1, "num_nextn_predict_layers": 2}, MLP, [4, 5], SHARED),
    ("Dots3NoteForCausalLM", {}, MLP, [4], SHARED),
    ("HYV3ForCausalLM", {"first_k_dense_replace": 1, "num_nextn_predict_layers": 1}, MLP, [4], "shared_mlp"),
    ("HYV4ForCausalLM", {"num_nextn_predict_layers": 2}, MLP, [4, 5], SHARED),
    (
        "KimiK3ForConditionalGeneration",
        text(**KIMI, num_nextn_predict_layers=1),
        "model.layers.{i}.block_sparse_moe",
        [4],
        SHARED,
    ),
    (
        "NemotronHForCausalLM",
        {"hybrid_override_pattern": "ME", "num_nextn_predict_layers": 1, "mtp_hybrid_override_pattern": "E*E"},
        "mtp.layers.{i}.mixer",
        [0, 2],
        SHARED,
    ),
    (
        "PanguUltraMoEForCausalLM",
        {**PANGU, "model_type": "pangu_ultra_moe", "num_nextn_predict_layers": 1},
        MLP,
        [4],
        SHARED,
    ),
    (
        "Step3p5ForCausalLM",
        {"moe_layers_enum": "3,4", "num_nextn_predict_layers": 2},
        "model.layers.{i}.mtp_block.moe",
        [4],
        "share_expert",
    ),
    (
        "Step3p5ForCausalLM",
        {"mlp_layer_types": ["dense"] * 4, "mtp_mlp_layer_types": ["sparse"], "num_nextn_predict_layers": 1},
        "model.layers.{i}.mtp_block.moe",
        [4],
        "share_expert",
    ),
    (
        "Step5ForCausalLM",
        {"moe_layers_enum": "1,4", "num_nextn_predict_layers": 1},
        "model.layers.{i}.mtp_block.moe",
        [4],
        "share_expert",
    ),
]


@pytest.mark.parametrize(("architecture", "keys", "prefix", "indices", "shared"), DRAFTS)
def test_draft_layers(architecture: str, keys: dict[str, Any], prefix: str, indices: list[int], shared: str) -> None:
    config = {"architectures": [architecture], "num_hidden_layers": 4, **keys}
    draft = parts_of(config)[1]
    assert draft.part == "draft"
    assert names(draft) == named(prefix, indices, shared, "experts")
    assert len(parts_of(config, draft=False)) == 1


@pytest.mark.parametrize(
    ("architecture", "keys"),
    [
        ("ExaoneMoEForCausalLM", {"num_nextn_predict_layers": 1}),
        ("Ernie4_5_MoeForCausalLM", {"num_nextn_predict_layers": 1}),
        ("InklingForCausalLM", {"num_nextn_predict_layers": 1}),
        ("KimiLinearForCausalLM", {**KIMI, "num_nextn_predict_layers": 1}),
        ("NemotronHForCausalLM", {"hybrid_override_pattern": "ME", "num_nextn_predict_layers": 2}),
        ("PanguProMoEV2ForCausalLM", {**PANGU, "num_nextn_predict_layers": 1}),
        ("Step3p5ForCausalLM", {"num_nextn_predict_layers": 1}),
    ],
)
def test_no_draft_with_shared_experts(architecture: str, keys: dict[str, Any]) -> None:
    assert len(parts_of({"architectures": [architecture], "num_hidden_layers": 4, **keys})) == 1


def test_ernie_vl_names_the_experts_that_a_layer_has() -> None:
    (part,) = parts_of(
        {"architectures": ["Ernie4_5_VLMoeForConditionalGeneration"], "num_hidden_layers": 4, **ERNIE_VL}
    )
    assert [layer.experts_name for layer in part.layers] == ["text_experts", "text_experts", "vision_experts"]
    assert [layer.index for layer in part.layers] == [1, 2, 3]


def test_mobius_layers_share_banks_and_its_draft_asks() -> None:
    target, draft = parts_of(
        {
            "architectures": ["InternS2MobiusForConditionalGeneration"],
            **text(num_blocks=2, mtp_num_hidden_layers=1, shared_expert_intermediate_size=48),
        }
    )
    banks = ["0", "1", "0", "1"]
    assert [layer.experts for layer in target.layers] == [f"language_model.model.meta_mlp.{b}.experts" for b in banks]
    assert target.layers[3].shared == "language_model.model.layers.3.mlp.shared_expert"
    assert draft.model_class not in releases.load("latest").wired
    assert names(draft) == named("mtp.layers.{i}.mlp", [0], "shared_expert", "experts")


def test_only_nemotron_experts_have_no_gate() -> None:
    nemotron = {"architectures": ["NemotronHForCausalLM"], "num_hidden_layers": 2, "hybrid_override_pattern": "ME"}
    assert [part.gated for part in parts_of(nemotron)] == [False]
    assert [part.gated for part in parts_of({"architectures": ["FlintForCausalLM"], "num_hidden_layers": 1})] == [True]


@pytest.mark.parametrize("architecture", ["HYV3ForCausalLM", "BailingMoeForCausalLM", "AfmoeForCausalLM"])
def test_what_the_file_must_state(architecture: str) -> None:
    with pytest.raises(InputError):
        parts_of({"architectures": [architecture]})


def test_moe_layer_numbers_that_are_none() -> None:
    config = {"architectures": ["Step3TextForCausalLM"], "num_hidden_layers": 4, "moe_layers_enum": "1,x"}
    with pytest.raises(InputError, match=r"moe_layers_enum: expected integers and commas"):
        parts_of(config)


def test_wrapper_around_another_language_model() -> None:
    config = {"architectures": ["Step3VLForConditionalGeneration"], **text(architectures=["Qwen3ForCausalLM"])}
    with pytest.raises(Undecided, match="Qwen3ForCausalLM"):
        parts_of(config)
