"""What is said in the log, and what of the release's own words is let through."""

import logging
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from fse_core.plugged.plan import Plan
from fse_core.vllm_plugin import instance, mend, plan, summary
from fse_core.vllm_plugin.warnings import Once, quieten

PREFIXES = [f"model.layers.{index}.mlp" for index in (1, 2)]
KNOWN = {f"{prefix}.shared_experts": f"{prefix}.experts" for prefix in PREFIXES}


class RoutedExperts:
    """As much of the release's module as is looked at."""

    def __init__(self, prefix: str, slots: int) -> None:
        self.layer_name = f"{prefix}.experts"
        self.expert_map_manager = SimpleNamespace(num_fused_shared_experts=slots)
        self.moe_config = SimpleNamespace(num_logical_experts=8)


class Model:
    """A model of two layers, which loads what it is given."""

    def __init__(self, slots: int) -> None:
        self.experts = [RoutedExperts(prefix, slots) for prefix in PREFIXES]
        self.loaded: list[str] = []
        self.during: list[Plan | None] = []

    def modules(self) -> list[Any]:
        return [*self.experts, object()]

    def load_weights(self, weights: Any) -> set[str]:
        self.during.append(plan.current())
        self.loaded += [name for name, _ in weights]
        return set(self.loaded)


@pytest.fixture(autouse=True)
def release(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[SimpleNamespace]:
    rank = SimpleNamespace(value=0)
    distributed: Any = ModuleType("vllm.distributed")
    distributed.get_tensor_model_parallel_rank = lambda: rank.value
    experts: Any = ModuleType("vllm.model_executor.layers.fused_moe.routed_experts")
    experts.RoutedExperts = RoutedExperts
    for module in (distributed, experts):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    caplog.set_level(logging.INFO)
    return rank


def test_a_fused_model_is_summed_up_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    summary.built(Model(1), Plan(experts=KNOWN))
    assert caplog.messages == ["FSE: 2 of 2 MoE layers fused"]


def test_a_refused_model_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    summary.built(Model(0), Plan(experts=KNOWN, refused="it breaks"))
    assert caplog.messages == ["FSE: 0 of 2 MoE layers fused: it breaks"]


def test_a_model_that_the_release_refuses_with_the_releases_reason(caplog: pytest.LogCaptureFixture) -> None:
    summary.built(Model(0), Plan(experts=KNOWN, reasons=["theirs", "theirs again"]))
    assert caplog.messages == ["FSE: 0 of 2 MoE layers fused: theirs"]


def test_other_ranks_say_nothing(caplog: pytest.LogCaptureFixture, release: SimpleNamespace) -> None:
    release.value = 3
    summary.built(Model(1), Plan(experts=KNOWN))
    assert caplog.messages == []


def test_what_is_accepted_is_marked_as_untested(caplog: pytest.LogCaptureFixture) -> None:
    summary.built(Model(1), Plan(experts=KNOWN, accepted="quark-excluded"))
    assert caplog.messages == ["FSE: 2 of 2 MoE layers fused, quark-excluded accepted, which is untested on hardware"]


def test_what_was_quantized_is_counted_in_the_releases_own_words(caplog: pytest.LogCaptureFixture) -> None:
    shards = {(8, "w1"), (8, "w2"), (8, "w3")}
    done: Any = [SimpleNamespace(experts=experts, quantized=shards, errors=[]) for experts in Model(1).experts]
    summary.loaded(Plan(experts=KNOWN, online="mxfp4", asked="targets: *shared_experts*, mxfp4"), done)
    assert caplog.messages == [
        "FSE: Quantized 4 layers of types: mlp.shared_experts.down_proj: 2 (from targets: *shared_experts*, mxfp4); "
        "mlp.shared_experts.gate_up_proj: 2 (from targets: *shared_experts*, mxfp4)"
    ]


def test_nothing_is_said_where_nothing_was_quantized(caplog: pytest.LogCaptureFixture) -> None:
    summary.loaded(Plan(experts=KNOWN, online="mxfp4"), [])
    assert caplog.messages == []


def test_the_plan_holds_while_weights_are_loaded_and_enters_the_cache_key() -> None:
    pytest.importorskip("torch")
    model, config, made = Model(1), SimpleNamespace(additional_config={"own": 1}), Plan(experts=KNOWN)
    instance.attach(model, made, config)
    assert model.load_weights([("a.weight", None)]) == {"a.weight"}
    assert model.during == [made]
    assert plan.current() is None
    assert config.additional_config["own"] == 1
    assert made.key in str(config.additional_config["fse"])


def test_full_precision_weights_of_a_packed_checkpoint_get_the_slots_name() -> None:
    pytest.importorskip("torch")
    model, config = Model(1), SimpleNamespace(additional_config={})
    instance.attach(model, Plan(experts=KNOWN, online="mxfp4", packed=True), config)
    names = ["a.shared_experts.up_proj.weight", "a.experts.0.up_proj.weight_packed", "a.gate.weight"]
    model.load_weights([(name, None) for name in names])
    assert model.loaded == [f"{names[0]}_packed", *names[1:]]


def test_a_warning_that_comes_for_every_layer_is_shown_once() -> None:
    shown = Once()

    def warning(text: str) -> bool:
        return shown.filter(logging.LogRecord("vllm", logging.WARNING, "", 0, text, None, None))

    words = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS is enabled but {} excludes model.layers.{}.mlp"
    assert warning(words.format("Quark", 3))
    assert not warning(words.format("Quark", 60))
    assert warning(words.format("FP8", 3))
    assert warning("another matter of layer 3")
    assert warning("another matter of layer 3")


def test_loggers_are_filtered_once_however_often_it_is_asked() -> None:
    quieten()
    logger = logging.getLogger("vllm.model_executor.layers.fused_moe.utils")
    filters = list(logger.filters)
    quieten()
    assert logger.filters == filters
    assert len([one for one in filters if isinstance(one, Once)]) == 1


class Fp8Config:
    """As much of the release's class as is looked at."""

    def __init__(self) -> None:
        self.ignored_layers = ["lm_head"]


class QuarkConfig:
    """As much of the release's class as is looked at."""

    def __init__(self) -> None:
        self.quant_config = {"exclude": ["lm_head"]}


def test_modules_are_left_out_in_the_list_that_the_class_reads(caplog: pytest.LogCaptureFixture) -> None:
    fp8, quark = Fp8Config(), QuarkConfig()
    for config in (fp8, quark):
        mend.leave_out(config, ["a.up_proj", "lm_head"])
        mend.leave_out(config, ["a.up_proj"])
    assert fp8.ignored_layers == quark.quant_config["exclude"] == ["lm_head", "a.up_proj"]
    assert caplog.messages == ["FSE: 1 modules of shared experts are built in full precision, as stored: a.up_proj ..."]


def test_a_class_without_such_a_list_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    mend.leave_out(None, ["a.up_proj"])
    mend.leave_out(SimpleNamespace(ignored_layers=[]), ["a.up_proj"])
    assert caplog.messages == []
