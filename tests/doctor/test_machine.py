"""What is here is found without importing it."""

import sys
from pathlib import Path

import pytest

from fse_core.doctor import machine

ON = {"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS": "1"}


def node(folder: Path, number: int, target: str) -> None:
    (folder / str(number)).mkdir()
    (folder / str(number) / "properties").write_text(f"cpu_cores_count 0\nsimd_count 1216\n{target}\nvendor_id 4098\n")


def test_gpus_are_those_that_the_driver_tells_of(tmp_path: Path) -> None:
    for number, target in enumerate(
        ["gfx_target_version 0", "gfx_target_version 90500", "gfx_target_version 90402", ""]
    ):
        node(tmp_path, number, target)
    assert machine.gpus(str(tmp_path)) == ["gfx950", "gfx942"]


def test_a_machine_without_the_driver_has_none(tmp_path: Path) -> None:
    assert machine.gpus(str(tmp_path / "no")) == []
    (tmp_path / "0" / "properties").mkdir(parents=True)
    assert machine.gpus(str(tmp_path)) == []


@pytest.mark.parametrize(
    ("target", "name"),
    [(90010, "gfx90a"), (90402, "gfx942"), (90500, "gfx950"), (120500, "gfx1250"), (110001, "gfx1101")],
)
def test_architectures_by_number(target: int, name: str) -> None:
    assert machine.architecture(target) == name


def install(folder: Path, name: str, version: str, entry_points: str = "") -> None:
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(entry_points)


@pytest.fixture
def container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation of vLLM with the plugin, and nothing else."""
    install(tmp_path, "vllm", "0.31.0+rocm722")
    install(tmp_path, "amd-aiter", "0.1.16.post3")
    install(tmp_path, "vllm-fse", "0.2.0", "[vllm.general_plugins]\nfse = fse_core.vllm_plugin:register\n")
    (tmp_path / "vllm.py").write_text("raise SystemExit('vllm was imported')\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def test_versions_are_those_of_the_installed_distributions(container: Path) -> None:
    found = machine.look(ON, str(container / "none"))
    assert found.versions == {"vllm": "0.31.0+rocm722", "aiter": "0.1.16.post3", "torch": None, "fse": "0.2.0"}
    assert "vllm" not in sys.modules


@pytest.mark.parametrize(
    ("environment", "state", "reason"),
    [
        (ON, "on", None),
        ({**ON, "VLLM_PLUGINS": "other,fse"}, "on", None),
        ({**ON, "VLLM_PLUGINS": ""}, "off", "VLLM_PLUGINS= does not name fse"),
        ({**ON, "VLLM_PLUGINS": "other"}, "off", "VLLM_PLUGINS=other does not name fse"),
        ({**ON, "FSE_PLUGIN": "off"}, "off", "FSE_PLUGIN switches it off"),
        ({}, "off", "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS is not on"),
    ],
)
def test_the_plugins_state(container: Path, environment: dict[str, str], state: str, reason: str | None) -> None:
    found = machine.look(environment, str(container))
    assert (found.plugin, found.plugin_reason) == (state, reason)


def test_without_vllm_there_is_no_plugin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert machine.look(ON).plugin == "absent"
    install(tmp_path, "vllm", "0.31.0")
    assert machine.look(ON).plugin_reason == "vllm-fse is not installed beside vLLM"
