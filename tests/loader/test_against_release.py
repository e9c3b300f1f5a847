"""Tiny checkpoints of four families, loaded by vLLM 0.33.0 (recorded) and by ours: the same bytes in every expert."""

import pytest

pytest.importorskip("torch")

from conformance.loaded import FILLINGS, compare, filled, raw
from conformance.loading import records
from conformance.questions import Question, questions, some
from fse_core.errors import InputError

RECORDS = records()
SOME = list(some())
LOADS = [question for question in SOME if not question.tiny.packed and RECORDS[question.name]["answer"]["loaded"]]
BLOCK_SCALES_LOST = ("minimax", "fp8_block")
"""MiniMax-M3's class renames weight_scale_inv to weight_scale, which FP8 blocks are not called (amd/model.py:1626)."""


def test_every_question_is_recorded_as_it_stands() -> None:
    assert {name: record["digest"] for name, record in RECORDS.items()} == {q.name: q.digest for q in questions()}


@pytest.mark.parametrize("question", LOADS, ids=lambda question: question.name)
def test_every_byte_is_the_release_s(question: Question) -> None:
    held = list(compare(question, RECORDS[question.name]["answer"]["loaded"]))
    lost = (question.tiny.family, question.tiny.scheme) == BLOCK_SCALES_LOST
    for parameter in held:
        scale = parameter.parameter.endswith("scale_inv")
        assert parameter.kind == ("release leaves unset" if lost and scale else "agreed"), parameter
    assert len(held) == 8


def test_what_the_release_leaves_unset_is_padding_alone() -> None:
    unset = {
        question.tiny.name
        for question in LOADS
        for parameters in RECORDS[question.name]["answer"]["loaded"].values()
        for parameter in parameters.values()
        if parameter["untouched"]
    }
    assert unset == {"deepseek-mxfp4_online-128x1", "minimax-fp8_block-512x1"}


@pytest.mark.parametrize("family", ["deepseek", "glm", "qwen", "minimax"])
def test_a_stacked_projection_gives_the_slots_of_split_ones(family: str) -> None:
    (stacked,) = (question for question in SOME if question.tiny.family == family and question.tiny.packed)
    split = RECORDS[f"{family}-mxfp4_online-512x1 tp 1 rank 0"]["answer"]["loaded"]
    assert {held.kind for held in compare(stacked, split)} == {"agreed"}


def test_how_the_release_takes_a_stacked_projection() -> None:
    answers = {q.tiny.family: RECORDS[q.name]["answer"] for q in SOME if q.tiny.packed}
    assert answers["deepseek"]["error"]["type"] == "KeyError"
    assert answers["deepseek"]["error"]["message"] == "'layers.0.mlp.shared_experts.gate_up_proj.weight'"
    for family in ("glm", "qwen"):
        assert answers[family]["loaded"] == RECORDS[f"{family}-mxfp4_online-512x1 tp 1 rank 0"]["answer"]["loaded"]
    silent = next(iter(answers["minimax"]["loaded"].values()))
    one_slot = 2 * 512 * 256 // 2
    assert answers["minimax"]["error"] is None
    assert silent["w13_weight"]["untouched"] == one_slot


@pytest.mark.parametrize("family", ["qwen", "minimax"])
def test_two_shared_experts_where_the_class_knows_one(family: str) -> None:
    answer = RECORDS[f"{family}-mxfp4_online-512x2 tp 1 rank 0"]["answer"]
    assert answer["error"]["type"] == "RuntimeError"
    assert answer["error"]["message"].startswith("The size of tensor a (16) must match the size of tensor b (32)")


def test_a_wider_shared_expert_than_its_one_slot_is_refused() -> None:
    (question,) = (q for q in SOME if q.tiny.family == "qwen" and q.tiny.shared == 2)
    described = RECORDS["qwen-mxfp4_online-512x1 tp 1 rank 0"]["answer"]["loaded"]
    with pytest.raises(InputError, match=r"gate_proj.weight: is 1024x256, and 1 x 512 .* wider than its slots"):
        filled(question, described, FILLINGS[0], slots=1)


def test_raw_gives_a_tensor_s_bytes() -> None:
    import torch

    assert raw(torch.tensor([[1, 2], [3, 4]], dtype=torch.uint8).T) == b"\x01\x03\x02\x04"
