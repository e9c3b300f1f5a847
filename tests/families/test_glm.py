"""GLM-4.5 to 4.7, GLM-4.7-Flash and GLM-5.3-Flash, as vLLM 0.33.0 builds small configs of them."""

from typing import Any

import pytest

from tests.families.parts import lines, parts

ALONE = "model.layers.*.mlp.shared_experts"
WRAPPED = "language_model.model.layers.*.mlp.shared_experts"

GLM4: dict[str, Any] = {
    "architectures": ["Glm4MoeForCausalLM"],
    "model_type": "glm4_moe",
    "num_hidden_layers": 4,
    "moe_layer_freq": 2,
}
LITE: dict[str, Any] = {
    "architectures": ["Glm4MoeLiteForCausalLM"],
    "model_type": "glm4_moe_lite",
    "num_hidden_layers": 4,
    "first_k_dense_replace": 1,
}
GLM5_TEXT: dict[str, Any] = {"num_hidden_layers": 5, "num_nextn_predict_layers": 1}
GLM5: dict[str, Any] = {
    "architectures": ["Glm5NextForConditionalGeneration"],
    "model_type": "glm5_next",
    "text_config": GLM5_TEXT,
}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (GLM4, [f"Glm4MoeForCausalLM: {ALONE} [1, 2, 3] x1", f"Glm4MoeMTP: {ALONE} [4] x1"]),
        ({**GLM4, "num_mtp_layers": 0}, [f"Glm4MoeForCausalLM: {ALONE} [1, 2, 3] x1"]),
        (
            {**GLM4, "n_shared_experts": 2, "first_k_dense_replace": 3, "num_nextn_predict_layers": 2},
            [f"Glm4MoeForCausalLM: {ALONE} [3] x2", f"Glm4MoeMTP: {ALONE} [4, 5] x2"],
        ),
        ({**GLM4, "n_shared_experts": None}, ["Glm4MoeForCausalLM: no layers"]),
        (
            {
                "architectures": ["Glm4vMoeForConditionalGeneration"],
                "model_type": "glm4v_moe",
                "text_config": {"num_hidden_layers": 3, "num_nextn_predict_layers": 1},
            },
            [f"Glm4vMoeForConditionalGeneration: {WRAPPED} [1, 2] x1"],
        ),
        (LITE, [f"Glm4MoeLiteForCausalLM: {ALONE} [1, 2, 3] x1"]),
        (
            {**LITE, "num_nextn_predict_layers": 1, "moe_layer_freq": 2},
            [f"Glm4MoeLiteForCausalLM: {ALONE} [2] x1", f"Glm4MoeLiteMTP: {ALONE} [4] x1"],
        ),
    ],
)
def test_layers_and_drafts(config: dict[str, Any], expected: list[str]) -> None:
    assert lines(config) == expected


@pytest.mark.parametrize(
    ("config", "error"),
    [
        (
            {key: value for key, value in LITE.items() if key != "first_k_dense_replace"},
            ("AttributeError", "'Glm4MoeLiteConfig' object has no attribute 'first_k_dense_replace'"),
        ),
        (
            {**LITE, "first_k_dense_replace": None},
            ("TypeError", "'>=' not supported between instances of 'int' and 'NoneType'"),
        ),
    ],
)
def test_glm_4_7_flash_reads_the_older_key(config: dict[str, Any], error: tuple[str, str]) -> None:
    (part,) = parts(config)
    assert part.startup is not None
    assert (part.startup.type, part.startup.message) == error


@pytest.mark.parametrize(
    ("target", "reasons"),
    [
        ({"gfx": "gfx950", "tp": 8}, ()),
        ({"gfx": "gfx950", "tp": 4}, ()),
        ({"gfx": "gfx950", "tp": 1}, ("tensor_parallel_size is 1",)),
        ({"gfx": "gfx942", "tp": 8}, ("the GPU is not gfx950",)),
        (
            {"gfx": "gfx942", "tp": 2, "dp": 2, "pcp": 2, "ep": True},
            (
                "the GPU is not gfx950",
                "tensor_parallel_size is 2",
                "data_parallel_size is 2",
                "prefill_context_parallel_size is 2",
                "expert parallelism is enabled",
            ),
        ),
    ],
)
def test_glm_5_3_flash_declines_where_it_is_not_tuned(target: dict[str, Any], reasons: tuple[str, ...]) -> None:
    assert [part.declines for part in parts(GLM5, **target)] == [reasons, reasons]


@pytest.mark.parametrize(
    ("types", "target", "draft"),
    [
        (None, [3, 4], [5]),
        (["sparse", "dense", "sparse", "dense", "dense"], [0, 2], []),
        (["dense", "sparse"], [1, 2, 3, 4], [5]),
        ([], [0, 1, 2, 3, 4], [5]),
    ],
)
def test_glm_5_3_flash_goes_on_as_its_list_ends(types: list[str] | None, target: list[int], draft: list[int]) -> None:
    config = {**GLM5, "text_config": {**GLM5_TEXT, "mlp_layer_types": types}}
    found = lines(config)
    assert found[0] == f"Glm5NextForConditionalGeneration: {WRAPPED} {target} x1"
    assert found[1:] == ([f"Glm5NextMTP: {ALONE} {draft} x1"] if draft else [])


def test_glm_5_3_flash_alone_has_no_packed_modules() -> None:
    alone = {**GLM5_TEXT, "architectures": ["Glm5NextForCausalLM"], "model_type": "glm5_next"}
    part, draft = parts(alone)
    assert (part.packed, part.renames, draft.packed) == ({}, (), None)
    assert lines({**alone, "model_type": "glm5_next_text"}) == [f"Glm5NextForCausalLM: {ALONE} [3, 4] x1"]
