"""DeepSeek V2 and V3, what is built on them, and their drafts, as vLLM 0.33.0 builds small configs of them."""

from typing import Any

import pytest

from fse_core.errors import InputError, Undecided
from fse_core.names import GATE_UP
from tests.families.parts import lines, parts, said

V3: dict[str, Any] = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "num_hidden_layers": 4,
    "first_k_dense_replace": 1,
    "n_routed_experts": 16,
    "n_shared_experts": 1,
    "num_nextn_predict_layers": 1,
}
ALONE = "model.layers.*.mlp.shared_experts"
WRAPPED = "language_model.model.layers.*.mlp.shared_experts"
TARGET = f"DeepseekV3ForCausalLM: {ALONE} [1, 2, 3] x1"
BARE = {key: V3[key] for key in ("architectures", "model_type", "num_hidden_layers")}


def with_type(architecture: str, model_type: str, **more: Any) -> dict[str, Any]:
    return {**V3, "architectures": [architecture], "model_type": model_type, **more}


def wrapped(architecture: str, model_type: str, key: str = "text_config", **text: Any) -> dict[str, Any]:
    return {"architectures": [architecture], "model_type": model_type, key: {**V3, **text}}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (V3, [TARGET, f"DeepSeekMTP: {ALONE} [4] x1"]),
        ({**V3, "num_nextn_predict_layers": 2}, [TARGET, f"DeepSeekMTP: {ALONE} [4, 5] x1"]),
        ({**V3, "num_nextn_predict_layers": 0}, [TARGET]),
        ({**V3, "num_nextn_predict_layers": None}, [TARGET]),
        (
            {**V3, "num_hidden_layers": 6, "moe_layer_freq": 2, "n_shared_experts": 2},
            [f"DeepseekV3ForCausalLM: {ALONE} [2, 4] x2", f"DeepSeekMTP: {ALONE} [6] x2"],
        ),
        ({**V3, "first_k_dense_replace": 9}, ["DeepseekV3ForCausalLM: no layers"]),
        ({**V3, "n_shared_experts": None}, ["DeepseekV3ForCausalLM: no layers"]),
        ({**V3, "n_routed_experts": None}, ["DeepseekV3ForCausalLM: no layers"]),
        (with_type("DeepseekV3ForCausalLM", "kimi_k2"), [TARGET]),
        (with_type("DeepseekV3ForCausalLM", "deepseek_v32"), [TARGET, f"DeepseekV32MTP: {ALONE} [4] x1"]),
        (with_type("DeepseekV3BidirectionalModel", "kimi_k2"), [TARGET]),
        (with_type("DeepseekForCausalLM", "deepseek"), [f"DeepseekForCausalLM: {ALONE} [1, 2, 3] x1"]),
    ],
)
def test_layers_and_drafts(config: dict[str, Any], expected: list[str]) -> None:
    assert lines(config) == expected


@pytest.mark.parametrize(
    ("model_type", "expected"),
    [
        ("deepseek_v3", [f"DeepseekV3ForCausalLM: {ALONE} [3] x1", f"DeepSeekMTP: {ALONE} [4] x1"]),
        ("deepseek_v2", [f"DeepseekV3ForCausalLM: {ALONE} [0, 1, 2, 3] x2"]),
        ("glm_moe_dsa", [f"DeepseekV3ForCausalLM: {ALONE} [3] x1"]),
    ],
)
def test_a_config_class_fills_in_what_is_absent(model_type: str, expected: list[str]) -> None:
    assert lines({**BARE, "model_type": model_type}) == expected


def test_the_newer_name_of_the_draft_count() -> None:
    config = {key: value for key, value in V3.items() if key != "num_nextn_predict_layers"}
    assert lines({**config, "num_mtp_layers": 2})[1] == f"DeepSeekMTP: {ALONE} [4, 5] x1"
    assert lines({**V3, "num_mtp_layers": 2})[1] == f"DeepSeekMTP: {ALONE} [4] x1"


def test_no_draft_unless_asked() -> None:
    assert lines(V3, draft=False) == [TARGET]


def test_a_class_without_defaults_needs_its_keys() -> None:
    with pytest.raises(InputError, match="n_shared_experts"):
        lines(with_type("DeepseekForCausalLM", "deepseek") | {"n_shared_experts": "1"})
    with pytest.raises(InputError, match="num_hidden_layers"):
        lines({"architectures": ["DeepseekForCausalLM"], "model_type": "deepseek"})


@pytest.mark.parametrize("count", [None, 10**9, -1])
def test_a_number_of_layers_that_no_model_has(count: int | None) -> None:
    with pytest.raises(InputError, match="num_hidden_layers"):
        lines({**V3, "num_hidden_layers": count})


def test_null_where_the_class_compares() -> None:
    (part, *_) = parts({**V3, "first_k_dense_replace": None})
    assert part.startup is not None
    assert (part.startup.type, part.startup.message) == (
        "TypeError",
        "'>=' not supported between instances of 'int' and 'NoneType'",
    )


@pytest.mark.parametrize("architecture", ["DeepseekV32ForCausalLM", "GlmMoeDsaForCausalLM"])
def test_sparse_attention_is_one_class(architecture: str) -> None:
    model_type = "deepseek_v32" if architecture.startswith("Deepseek") else "glm_moe_dsa"
    assert lines(with_type(architecture, model_type)) == [
        f"DeepseekV32ForCausalLM: {ALONE} [1, 2, 3] x1",
        f"DeepseekV32MTP: {ALONE} [4] x1",
    ]


def test_mistral_large_3_drafts_as_many_layers_as_it_has() -> None:
    part, draft = parts(with_type("MistralLarge3ForCausalLM", "deepseek_v3"))
    assert said(part) == f"MistralLarge3ForCausalLM: {ALONE} [1, 2, 3] x1"
    assert said(draft) == f"EagleMistralLarge3ForCausalLM: {ALONE} [5, 6, 7] x1"
    assert (draft.quantization, draft.packed, draft.one_answer) == ("own", {}, False)
    assert lines(with_type("MistralLarge3ForCausalLM", "mistral_large_3"))[1:] == []


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (wrapped("KimiK25ForConditionalGeneration", "kimi_k25"), f"{WRAPPED} [1, 2, 3] x1"),
        (wrapped("KimiVLForConditionalGeneration", "kimi_vl"), f"{WRAPPED} [1, 2, 3] x1"),
        (wrapped("Mistral3ForConditionalGeneration", "mistral3"), f"{WRAPPED} [1, 2, 3] x1"),
        (
            wrapped("PixtralForConditionalGeneration", "pixtral", architectures=["MistralLarge3ForCausalLM"]),
            f"{WRAPPED} [1, 2, 3] x1",
        ),
        (wrapped("DeepseekOCRForCausalLM", "deepseek_vl_v2", "language_config"), f"{WRAPPED} [1, 2, 3] x1"),
        (wrapped("DeepseekOCR2ForCausalLM", "deepseek_vl_v2", "language_config"), f"{WRAPPED} [1, 2, 3] x1"),
        (wrapped("UnlimitedOCRForCausalLM", "unlimited-ocr", "language_config"), f"{WRAPPED} [1, 2, 3] x1"),
        (
            wrapped("DeepseekVLV2ForCausalLM", "deepseek_vl_v2", "language_config"),
            "language.model.layers.*.mlp.shared_experts [1, 2, 3] x1",
        ),
    ],
)
def test_multimodal_classes_have_no_draft(config: dict[str, Any], expected: str) -> None:
    assert lines(config) == [f"{config['architectures'][0]}: {expected}"]


def test_a_wrapper_fixes_the_inner_config_class() -> None:
    text = {"num_hidden_layers": 2, "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3"}
    config = {"architectures": ["KimiVLForConditionalGeneration"], "model_type": "kimi_vl", "text_config": text}
    assert lines(config) == [f"KimiVLForConditionalGeneration: {WRAPPED} [0, 1] x2"]


@pytest.mark.parametrize("text", [{"architectures": ["MistralForCausalLM"]}, {"model_type": "mistral"}, {}])
def test_a_wrapper_around_a_dense_model(text: dict[str, Any]) -> None:
    config = {"architectures": ["Mistral3ForConditionalGeneration"], "model_type": "mistral3", "text_config": text}
    assert lines(config) == ["Mistral3ForConditionalGeneration: no layers"]


def test_a_wrapper_around_an_unknown_model() -> None:
    text = {"architectures": ["NewForCausalLM"]}
    with pytest.raises(Undecided, match="NewForCausalLM"):
        lines({"architectures": ["PixtralForConditionalGeneration"], "text_config": text})


def test_what_the_gate_finds_in_force() -> None:
    part, draft = parts(V3)
    assert (part.asks, part.request, part.mode, part.one_answer, part.packed) == (True, "aiter", "aiter", True, GATE_UP)
    assert (draft.packed, draft.quantization, draft.one_answer, draft.renames) == (None, "inherited", True, ())


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, "[1, 2, 3] x1"),
        ({"mlp_layer_types": ["dense", "sparse", "dense", "sparse"]}, "[1, 3] x1"),
        ({"moe_layer_freq": 2}, "[2] x1"),
        ({"first_k_dense_replace": 0}, "[0, 1, 2, 3] x1"),
    ],
)
def test_axk1(config: dict[str, Any], expected: str) -> None:
    axk1 = {"architectures": ["AXK1ForCausalLM"], "model_type": "axk1", "num_hidden_layers": 4, **config}
    assert lines(axk1) == [f"AXK1ForCausalLM: {ALONE} {expected}"]
