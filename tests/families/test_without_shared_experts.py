"""Models in which there is nothing to fuse, and wrappers whose language model decides."""

from typing import Any

import pytest

from fse_core import releases
from fse_core.errors import Undecided
from fse_core.families import families
from fse_core.families.base import Part
from fse_core.families.without_shared_experts import DENSE, MOE, QWEN3_5_DENSE
from fse_core.read.source import model_from_dict
from fse_core.target import Target

QWEN2_MOE = {"num_hidden_layers": 2, "num_experts": 4, "shared_expert_intermediate_size": 48}


def parts_of(config: dict[str, Any]) -> tuple[Part, ...]:
    model = model_from_dict(config)
    return families()[model.require_architecture()].parts(model, Target(), releases.load("latest"))


@pytest.mark.parametrize("architecture", ["LlamaForCausalLM", "BertModel"])
def test_no_part(architecture: str) -> None:
    assert parts_of({"architectures": [architecture]}) == ()


@pytest.mark.parametrize("architecture", ["MixtralForCausalLM", "GptOssForCausalLM"])
def test_routed_experts_alone(architecture: str) -> None:
    (part,) = parts_of({"architectures": [architecture]})
    assert (part.layers, part.routed) == ((), True)


def test_kinds_are_apart_and_a_class_may_have_another_name() -> None:
    assert not set(MOE) & set(DENSE)
    assert not set(QWEN3_5_DENSE) & (set(MOE) | set(DENSE))
    assert DENSE["InternLM3ForCausalLM"] == "LlamaForCausalLM"
    assert MOE["MixtralForCausalLM"] == "MixtralForCausalLM"


def test_each_entry_is_answered_by_this_family() -> None:
    names = {families()[architecture].name for architecture in (*MOE, *DENSE, *QWEN3_5_DENSE)}
    assert names == {"without_shared_experts"}


def test_dense_qwen3_5_class_with_a_moe_config() -> None:
    assert parts_of({"architectures": ["Qwen3_5ForCausalLM"], "model_type": "qwen3_5_text"}) == ()
    with pytest.raises(Undecided):
        parts_of({"architectures": ["Qwen3_5ForCausalLM"], "model_type": "qwen3_5_moe_text"})


@pytest.mark.parametrize(
    ("architecture", "root"), [("LlavaForConditionalGeneration", "language_model"), ("Ovis2_6_MoeForCausalLM", "llm")]
)
@pytest.mark.parametrize("named", [{"architectures": ["Qwen2MoeForCausalLM"]}, {"model_type": "qwen2_moe"}])
def test_wrapper_answers_for_its_language_model(architecture: str, root: str, named: dict[str, Any]) -> None:
    (part,) = parts_of({"architectures": [architecture], "text_config": {**QWEN2_MOE, **named}})
    assert [layer.shared for layer in part.layers] == [f"{root}.model.layers.{i}.mlp.shared_expert" for i in (0, 1)]
    assert part.model_class == families()[architecture].architectures[architecture]


def test_wrapper_around_a_dense_model() -> None:
    config = {"architectures": ["InternVLChatModel"], "llm_config": {"architectures": ["Qwen2ForCausalLM"]}}
    assert parts_of(config) == ()


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"text_config": {}},
        {"text_config": {"model_type": "unheard_of"}},
        {"text_config": {"architectures": ["UnheardOfForCausalLM"]}},
        {"text_config": {"architectures": ["LlavaForConditionalGeneration"], "text_config": {}}},
        {"text_config": {"model_type": "glm4_moe", "num_hidden_layers": 2, "n_shared_experts": 1}},
    ],
)
def test_wrapper_that_is_not_known_is_undecided(config: dict[str, Any]) -> None:
    with pytest.raises(Undecided):
        parts_of({"architectures": ["LlavaForConditionalGeneration"], **config})
