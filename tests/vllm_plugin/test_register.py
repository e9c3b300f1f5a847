"""What vLLM calls, in a process with a package called vllm."""

import logging
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from tomllib import loads

import pytest

from fse_core import vllm_plugin
from fse_core.plugged.options import FUSION
from fse_core.vllm_plugin import instance, start
from fse_core.vllm_plugin.installed import HERE
from tests.vllm_plugin.conftest import Package, load

ROOT = Path(__file__).resolve().parents[2]
ROCM = {"platforms/__init__.py": "class current_platform:\n    is_rocm = staticmethod(lambda: True)\n"}
LOADER = "model_executor/model_loader/utils.py"
FOUND = {LOADER: "def initialize_model(vllm_config):\n    return 'theirs'\n"}


@pytest.fixture(autouse=True)
def _as_new(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("FSE_PLUGIN", raising=False)
    monkeypatch.setenv(FUSION, "1")
    yield
    HERE.restore()


def test_the_project_states_the_entry_point() -> None:
    points = loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["vllm.general_plugins"]
    assert list(points) == ["fse"]
    assert EntryPoint("fse", points["fse"], "vllm.general_plugins").load() is vllm_plugin.register


def test_it_waits_for_the_functions_of_the_release(vllm: Package) -> None:
    vllm(ROCM)
    load("vllm")
    vllm_plugin.register()
    assert HERE.states == dict.fromkeys(("expert_weight_loader", "gate", "initialize_model"), "waiting")


def test_twice_is_once(vllm: Package) -> None:
    vllm(ROCM)
    load("vllm")
    vllm_plugin.register()
    waiting, finders = dict(HERE.watch.waiting), list(sys.meta_path)
    vllm_plugin.register()
    assert HERE.watch.waiting == waiting
    assert sys.meta_path == finders


@pytest.mark.parametrize(
    ("variable", "value"), [(FUSION, "0"), ("FSE_PLUGIN", "off")], ids=["fusion not asked for", "switched off"]
)
def test_nothing_is_touched_that_nobody_asks_for(
    vllm: Package, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    vllm(ROCM)
    load("vllm")
    monkeypatch.setenv(variable, value)
    finders = list(sys.meta_path)
    vllm_plugin.register()
    assert HERE.states == {}
    assert sys.meta_path == finders


def test_nothing_is_touched_on_another_platform(vllm: Package) -> None:
    vllm({"platforms/__init__.py": "class current_platform:\n    is_rocm = staticmethod(lambda: False)\n"})
    load("vllm")
    vllm_plugin.register()
    assert HERE.states == {}


def test_a_release_that_is_too_old_is_left_as_it_is(vllm: Package, caplog: pytest.LogCaptureFixture) -> None:
    package = vllm(ROCM)
    (package / "__init__.py").write_text('__version__ = "0.23.0"\n')
    load("vllm")
    vllm_plugin.register()
    assert HERE.states == {}
    assert caplog.messages == [
        "FSE: vLLM 0.23.0 is older than 0.24.0, the oldest that the plugin knows: nothing is changed"
    ]


def test_a_release_of_which_no_function_is_known_is_left_as_it_is(
    vllm: Package, caplog: pytest.LogCaptureFixture
) -> None:
    vllm(ROCM | FOUND)
    load("vllm")
    vllm_plugin.register()
    assert load("vllm.model_executor.model_loader.utils").initialize_model(None) == "theirs"
    assert HERE.states["initialize_model"] == "untouched"
    assert len([line for line in caplog.messages if "is left untouched" in line]) == 1


def test_nothing_is_planned_where_what_decides_is_not_known(vllm: Package, caplog: pytest.LogCaptureFixture) -> None:
    gate = "model_executor/layers/quantization/utils/config_utils.py"
    experts = "model_executor/layers/fused_moe/routed_experts.py"
    vllm(ROCM | {gate: "def is_shared_expert_quant_fse_compatible(config):\n    return True\n", experts: ""})
    load("vllm")
    vllm_plugin.register()
    assert instance.planned(None, None) is None
    assert HERE.states["gate"] == HERE.states["expert_weight_loader"] == "untouched"
    assert len(caplog.messages) == 2
    assert all(" is left untouched: " in line for line in caplog.messages)


def test_it_never_raises(vllm: Package, caplog: pytest.LogCaptureFixture) -> None:
    vllm({"platforms/__init__.py": ""})
    load("vllm")
    vllm_plugin.register()
    assert caplog.messages[0].startswith("FSE: the plugin could not start and leaves vLLM as it is: ImportError: ")


def test_a_suffix_of_a_build_says_nothing_about_the_release(vllm: Package) -> None:
    package = vllm(ROCM)
    (package / "__init__.py").write_text('__version__ = "0.28.0+rocm721"\n')
    load("vllm")
    assert start.vllm_version() == "0.28.0"


def test_importing_the_plugin_does_nothing(caplog: pytest.LogCaptureFixture) -> None:
    before, loggers = list(sys.meta_path), set(logging.Logger.manager.loggerDict)
    load("fse_core.vllm_plugin.start")
    assert sys.meta_path == before
    assert set(logging.Logger.manager.loggerDict) == loggers
    assert caplog.messages == []
