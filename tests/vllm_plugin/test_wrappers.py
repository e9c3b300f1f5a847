"""What the replacements answer, with a plan and without one."""

from typing import Any

import pytest

from fse_core.plugged.plan import Plan
from fse_core.vllm_plugin import plan
from fse_core.vllm_plugin.patches import aiter_fusion_enabled, deepseek_v4_fuse, gate, minimax_m3_fuse, qwen_compatible

EXPERTS, SHARED = "model.layers.3.mlp.experts", "model.layers.3.mlp.shared_experts"
KNOWN = {SHARED: EXPERTS}


def asked(answer: tuple[bool, str | None], made: Plan | None, shared: str = SHARED, **more: Any) -> Any:
    calls: list[Any] = []

    def original(*args: Any, **kwargs: Any) -> Any:
        calls.append((args, kwargs))
        return answer

    wrapped = gate.PATCH.wrap(original)
    if made is None:
        return wrapped(None, EXPERTS, shared, **more), calls
    with plan.active(made):
        return wrapped(None, EXPERTS, shared, **more), calls


def test_without_a_plan_the_gate_is_the_releases_own() -> None:
    answer, calls = asked((True, None), None, moe_backend="aiter")
    assert answer == (True, None)
    assert calls == [((None, EXPERTS, SHARED), {"moe_backend": "aiter"})]


def test_a_refused_model_gets_no_for_an_answer_with_our_reason() -> None:
    assert asked((True, None), Plan(experts=KNOWN, refused="it breaks")) == ((False, "it breaks"), [])


def test_a_layer_that_the_plan_does_not_know_is_left_to_the_release() -> None:
    answer, calls = asked((True, None), Plan(experts=KNOWN, refused="it breaks"), "another.shared_experts")
    assert answer == (True, None)
    assert len(calls) == 1


@pytest.mark.parametrize("made", [Plan(experts=KNOWN, online="mxfp4"), Plan(experts=KNOWN, accepted="quark-excluded")])
def test_what_is_quantized_or_accepted_gets_yes(made: Plan) -> None:
    assert asked((False, "theirs"), made) == ((True, None), [])


def test_a_refusal_of_the_release_is_kept_for_the_summary() -> None:
    made = Plan(experts=KNOWN)
    assert asked((False, "theirs"), made)[0] == (False, "theirs")
    assert made.reasons == ["theirs"]


@pytest.mark.parametrize(
    ("patch", "arguments"),
    [
        (aiter_fusion_enabled.PATCH, (object,)),
        (minimax_m3_fuse.PATCH, (object(),)),
        (deepseek_v4_fuse.PATCH, (object(), "model.layers.3.ffn")),
    ],
)
def test_releases_without_a_gate_answer_no_while_a_refused_model_is_built(patch: Any, arguments: Any) -> None:
    wrapped = patch.wrap(lambda *_: True)
    assert wrapped(*arguments) is True
    with plan.active(Plan(experts=KNOWN, refused="it breaks")):
        assert wrapped(*arguments) is False
        with plan.active(Plan(experts=KNOWN)):  # a draft, say
            assert wrapped(*arguments) is True
    assert wrapped(*arguments) is True


def test_qwens_own_question_is_no_obstacle_to_what_is_quantized_while_loading() -> None:
    wrapped = qwen_compatible.PATCH.wrap(lambda _: False)
    assert wrapped("config") is False
    with plan.active(Plan(experts=KNOWN, online="mxfp4")):
        assert wrapped("config") is True
    with plan.active(Plan(experts=KNOWN)):
        assert wrapped("config") is False


def test_plans_that_lead_to_other_graphs_have_other_keys() -> None:
    made = [
        Plan(experts=KNOWN),
        Plan(experts=KNOWN, refused="it breaks"),
        Plan(experts=KNOWN, online="mxfp4"),
        Plan(experts=KNOWN, accepted="quark-excluded"),
    ]
    assert len({one.key for one in made}) == 4
    assert Plan(experts=KNOWN, refused="another reason").key == made[1].key
