"""What the doctor says where the plugin is beside vLLM."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from conformance.checkpoints import tensors
from conformance.plugin.beyond import BEYOND
from conformance.plugin.rows import ROWS
from fse_core.doctor.command import from_text
from fse_core.doctor.examine import Question, examine
from fse_core.doctor.log.tally import Tally
from fse_core.doctor.result import Diagnosis, Machine, PluginState
from fse_core.read.source import read_model
from fse_core.report import Report

ON = "VLLM_ROCM_USE_AITER=1 VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS=1"
CASES = {row.id: row for row in (*ROWS, *BEYOND)}
ONLINE = "FSE_ONLINE_SHARED_EXPERTS=mxfp4"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A checkpoint that stock 0.28.0 breaks on and the plugin refuses, or quantizes if it is asked to."""
    case = CASES["mxfp4-plain"].checkpoint
    (tmp_path / "config.json").write_text(json.dumps(case.config()))
    tensors.write(tmp_path / "model.safetensors", case.tensors())
    return str(tmp_path)


def asked(text: str, plugin: PluginState = "on", **more: Any) -> Diagnosis:
    machine = Machine(versions={"vllm": "0.28.0"}, gpus=("gfx950",), plugin=plugin)
    question = Question(machine=machine, read=read_model, environment={}, **more)
    return examine(question, from_text(text))


def reported(found: Diagnosis) -> Report:
    assert found.report is not None
    return found.report


def test_a_start_here_is_judged_with_the_plugin(folder: str) -> None:
    alone = reported(asked(f"{ON} vllm serve {folder}", "absent"))
    refused = reported(asked(f"{ON} vllm serve {folder}"))
    online = reported(asked(f"{ON} {ONLINE} vllm serve {folder}"))
    assert (alone.verdict, refused.verdict, online.verdict) == ("breaks", "separate", "fuses")
    assert (alone.target["plugin"], refused.target["plugin"]) == (False, True)
    assert online.target["env"]["FSE_ONLINE_SHARED_EXPERTS"] == "mxfp4"
    assert not any("--headers full" in one.message for one in online.findings)  # which were read, as the plugin does


@pytest.mark.parametrize("more", ["VLLM_PLUGINS=lora", "FSE_PLUGIN=off"])
def test_what_keeps_the_plugin_from_acting_counts(folder: str, more: str) -> None:
    assert reported(asked(f"{ON} {more} vllm serve {folder}")).verdict == "breaks"


def test_what_an_image_holds_is_not_known(folder: str) -> None:
    variables = " ".join(f"-e {one}" for one in ON.split())
    line = f"docker run {variables} vllm/vllm-openai-rocm:v0.28.0 {folder}"
    assert reported(asked(line)).verdict == "breaks"
    assert reported(asked(line, target={"plugin": True})).verdict == "separate"


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ("", ("0 of 2 MoE layers fused: because",)),
        ("", ("0 of 2 MoE layers fused: because", "1 of 1 MoE layers fused")),  # the second is of a draft
        (", 'pipeline_parallel_size': 2", ("0 of 1 MoE layers fused: because", "0 of 1 MoE layers fused: because")),
    ],
)
def test_a_log_with_the_plugins_summary_is_held_against_the_plugin(
    folder: str, options: str, lines: tuple[str, ...]
) -> None:
    head = "(EngineCore pid=1) INFO 11-30 13:49:44 [api_utils.py:286] "
    text = f"{head}non-default args: {{'model': '{folder}'{options}}}\n"
    text += "".join(f"{head}FSE: {line}\n" for line in lines)
    tally = Tally()
    tally.read(io.BytesIO(text.encode()))
    machine = Machine(versions={}, gpus=("gfx950",), plugin="absent")
    found = examine(Question(machine=machine, read=read_model, environment={}, vllm="0.28.0"), None, tally, "x.log")
    assert found.log is not None
    assert (found.log.fused, found.log.match) == ("separate", "matches")


def test_a_stage_counts_its_own_layers(folder: str) -> None:
    text = "INFO 11-30 13:49:44 [x.py:1] vLLM API server version 0.28.0\nFSE: 1 of 1 MoE layers fused\n"
    tally = Tally()
    tally.read(io.BytesIO(text.encode()))
    machine = Machine(versions={}, gpus=("gfx950",), plugin="absent")
    given = {name: value for name, _, value in (one.partition("=") for one in [*ON.split(), ONLINE])}
    matches = []
    for target in ({"pp": 2}, {}):
        question = Question(machine=machine, read=read_model, environment={}, given=given, source=folder, target=target)
        found = examine(question, None, tally, "x.log")
        assert found.log is not None
        matches.append(found.log.match)
    assert matches == ["matches", "differs"]
