"""The question that vLLM's own config comes to."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fse_core.plugged.options import FUSION
from fse_core.vllm_plugin import start, subject

CONFIG = {"architectures": ["DeepseekV3ForCausalLM"], "hidden_size": 256}


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "vllm_version", lambda: "0.31.0")
    monkeypatch.setattr(subject, "vllm_version", lambda: "0.31.0")
    monkeypatch.setattr(subject, "gfx", lambda: "gfx950")
    monkeypatch.setenv(FUSION, "1")
    monkeypatch.setenv("VLLM_ROCM_USE_AITER", "1")
    monkeypatch.delenv("VLLM_ROCM_USE_AITER_MOE", raising=False)


def vllm_config(model: str, **changes: Any) -> Any:
    parallel = {
        "tensor_parallel_size": 8,
        "enable_expert_parallel": False,
        "data_parallel_size": 1,
        "pipeline_parallel_size": 1,
        "all2all_backend": "allgather_reducescatter",
        "enable_eplb": False,
    }
    hf_config = SimpleNamespace(to_dict=lambda: {**CONFIG, "hidden_size": 512})
    whole = {
        "model_config": SimpleNamespace(model=model, revision=None, hf_config=hf_config, hf_overrides={}),
        "speculative_config": None,
        "parallel_config": SimpleNamespace(**parallel),
        "kernel_config": SimpleNamespace(moe_backend="aiter"),
        "quant_config": None,
    }
    return SimpleNamespace(**{**whole, **changes})


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    return str(tmp_path)


def test_the_target_is_what_vllm_was_started_with(folder: str) -> None:
    found = subject.of(vllm_config(folder), None)
    assert found is not None
    target = found.target
    assert (target.vllm, target.gfx, target.tp, target.moe_backend) == ("0.31.0", "gfx950", 8, "aiter")
    assert target.environment == {
        "VLLM_ROCM_USE_AITER": "1",
        "VLLM_ROCM_USE_AITER_MOE": "1",
        FUSION: "1",
    }
    assert found.part == "target"
    assert found.model.text.integer("hidden_size") == 256


def test_a_config_that_the_operator_changed_is_the_one_that_counts(folder: str) -> None:
    config = vllm_config(folder)
    config.model_config.hf_overrides = {"hidden_size": 512}
    found = subject.of(config, None)
    assert found is not None
    assert found.model.text.integer("hidden_size") == 512


def test_a_checkpoint_that_is_not_on_this_machine_is_known_by_its_config_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subject, "_folder", lambda _: None)
    found = subject.of(vllm_config("org/name"), None)
    assert found is not None
    assert found.model.headers is None
    assert found.model.text.integer("hidden_size") == 512


def test_a_draft_of_the_same_checkpoint_is_its_own_part(folder: str) -> None:
    draft = SimpleNamespace(model=folder)
    config = vllm_config(folder, speculative_config=SimpleNamespace(draft_model_config=draft))
    found = subject.of(config, draft)
    assert found is not None
    assert found.part == "draft"
    own = subject.of(config, config.model_config)
    assert own is not None
    assert own.part == "target"


def test_a_draft_of_another_checkpoint_is_left_to_the_release(folder: str) -> None:
    draft = SimpleNamespace(model="org/eagle")
    config = vllm_config(folder, speculative_config=SimpleNamespace(draft_model_config=draft))
    assert subject.of(config, draft) is None


def test_targets_are_read_from_the_release_as_it_understood_them(folder: str) -> None:
    arguments = SimpleNamespace(targets={"*shared_experts*": "mxfp4"}, ignore=["lm_head"])
    quant_config = SimpleNamespace(online_quantization_config=SimpleNamespace(args=arguments))
    found = subject.of(vllm_config(folder, quant_config=quant_config), None)
    assert found is not None
    assert found.target.overlay == {"targets": {"*shared_experts*": "mxfp4"}, "ignore": ["lm_head"]}
