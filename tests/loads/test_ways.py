"""How the classes of each release load, and what is not known of them."""

import pytest

from fse_core import releases
from fse_core.loads.sizes import sizes
from fse_core.loads.ways import Way, way
from fse_core.read.getters import Fields
from fse_core.target import Target


def of(model_class: str, version: str) -> Way:
    found = way(model_class, releases.load(version))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("model_class", "version", "cut", "skips"),
    [
        ("DeepseekV3ForCausalLM", "0.24.0", "looks", False),
        ("Glm4MoeLiteForCausalLM", "0.33.0", "blind", False),
        ("Glm4MoeForCausalLM", "0.33.0", "looks", False),
        ("Qwen3NextForCausalLM", "0.24.0", "none", True),
        ("Qwen3NextForCausalLM", "0.25.0", "none", False),
        ("Qwen3NextForCausalLM", "0.26.0", "looks", False),
        ("Qwen3_5MoeForCausalLM", "0.24.0", "none", False),
        ("MiniMaxM3SparseForCausalLM", "0.33.0", "none", True),
        ("DeepSeekMTP", "0.24.0", "looks", False),
        ("Glm4MoeLiteMTP", "0.33.0", "blind", False),
        ("Qwen3_5MoeMTP", "0.33.0", "looks", False),
        ("MiniMaxM3MTP", "0.33.0", "none", True),
    ],
)
def test_the_way_of_a_class(model_class: str, version: str, cut: str, skips: bool) -> None:
    found = of(model_class, version)
    assert (found.cut, found.skips) == (cut, skips)


def test_a_helper_of_all_models_says_it_in_other_words_than_a_loop() -> None:
    loop, helper = of("Glm4MoeForCausalLM", "0.25.0"), of("Glm4MoeForCausalLM", "0.26.0")
    assert (loop.nowhere, loop.beyond) == ("KeyError", False)
    assert (helper.nowhere, helper.beyond) == ("AttributeError", True)


@pytest.mark.parametrize(
    ("model_class", "heads", "absent"),
    [
        ("DeepSeekMTP", ("model.layers.61", "layers.61", "model.language_model.layers.61"), "ValueError"),
        ("Glm4MoeMTP", ("model.layers.61", "layers.61", "model.language_model.layers.61"), None),
        ("Qwen3NextMTP", ("mtp.layers.61",), None),
        ("DeepseekV3ForCausalLM", (), None),
    ],
)
def test_where_a_draft_is_looked_for(model_class: str, heads: tuple[str, ...], absent: str | None) -> None:
    found = of(model_class, "0.33.0")
    assert (found.heads(61), found.absent) == (heads, absent)


@pytest.mark.parametrize(
    ("model_class", "version"), [("DeepseekV3ForCausalLM", "0.23.0"), ("DeepseekV4ForCausalLM", "0.33.0")]
)
def test_what_is_not_known(model_class: str, version: str) -> None:
    assert way(model_class, releases.load(version)) is None


CONFIG = {"hidden_size": 256, "moe_intermediate_size": 128, "n_routed_experts": 8}


def test_sizes_by_the_config() -> None:
    found = sizes(Fields(CONFIG), 2, Target(tp=2))
    assert found is not None
    assert (found.hidden, found.width, found.experts, found.shared, found.partition) == (256, 128, 8, 256, 64)


@pytest.mark.parametrize(("target", "tp"), [(Target(tp=2, dp=2), 4), (Target(tp=4, ep=True), 1)])
def test_over_how_many_ranks_an_expert_is_cut(target: Target, tp: int) -> None:
    found = sizes(Fields(CONFIG), 1, target)
    assert found is not None
    assert found.tp == tp


def test_qwen_states_the_shared_experts_width() -> None:
    found = sizes(Fields({**CONFIG, "shared_expert_intermediate_size": 64}), 1, Target())
    assert found is not None
    assert found.shared == 64


@pytest.mark.parametrize(
    "config",
    [
        {},
        {**CONFIG, "hidden_size": "256"},
        {key: value for key, value in CONFIG.items() if key != "n_routed_experts"},
        {**CONFIG, "moe_intermediate_size": 127},
    ],
)
def test_a_config_that_does_not_state_them(config: dict[str, object]) -> None:
    assert sizes(Fields(config), 1, Target(tp=2)) is None
