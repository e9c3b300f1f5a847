"""MiniMax-M3, as vLLM 0.33.0 builds small configs of it."""

from typing import Any

import pytest

from tests.families.parts import lines, parts

WRAPPED = "language_model.model.layers.*.block_sparse_moe.shared_experts"
ALONE = "model.layers.*.block_sparse_moe.shared_experts"
WRAPPER = "MiniMaxM3SparseForConditionalGeneration"
TEXT: dict[str, Any] = {"num_hidden_layers": 4, "moe_layer_freq": [0, 1, 0, 1], "n_shared_experts": 1}


def wrapped(**text: Any) -> dict[str, Any]:
    return {"architectures": [WRAPPER], "model_type": "minimax_m3_vl", "text_config": {**TEXT, **text}}


def alone(**more: Any) -> dict[str, Any]:
    return {"architectures": ["MiniMaxM3SparseForCausalLM"], "num_hidden_layers": 2, **more}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (wrapped(), [f"{WRAPPER}: {WRAPPED} [1, 3] x1", f"MiniMaxM3MTP: {ALONE} [0] x1"]),
        (
            wrapped(n_shared_experts=2, num_mtp_modules=2),
            [f"{WRAPPER}: {WRAPPED} [1, 3] x2", f"MiniMaxM3MTP: {ALONE} [0, 1] x2"],
        ),
        (wrapped(num_mtp_modules=0), [f"{WRAPPER}: {WRAPPED} [1, 3] x1"]),
        (wrapped(moe_layer_freq=None), [f"{WRAPPER}: {WRAPPED} [3] x1", f"MiniMaxM3MTP: {ALONE} [0] x1"]),
        (wrapped(n_shared_experts=None), [f"{WRAPPER}: no layers"]),
        (alone(n_shared_experts=1), [f"MiniMaxM3SparseForCausalLM: {ALONE} [0, 1] x1"]),
        (alone(), ["MiniMaxM3SparseForCausalLM: no layers"]),
    ],
)
def test_layers_and_drafts(config: dict[str, Any], expected: list[str]) -> None:
    assert lines(config) == expected


def test_it_reads_the_variable_alone_and_never_fuses_split_experts() -> None:
    part, draft = parts(wrapped())
    assert [(p.asks, p.request, p.one_answer) for p in (part, draft)] == [
        (True, "environment", True),
        (True, "environment", False),
    ]
    assert [p.asks for p in parts(wrapped(), ep=True)] == [False, False]


def test_a_frequency_that_is_no_list() -> None:
    startup = parts(wrapped(moe_layer_freq=1))[0].startup
    assert startup is not None
    assert (startup.type, startup.message) == ("TypeError", "'int' object is not subscriptable")
