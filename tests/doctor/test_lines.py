"""What stands around a line's words is told apart from them, and the words are understood."""

import json

import pytest

from fse_core.doctor.log.line import Line, parsed
from fse_core.doctor.log.notice import Notice, notices, stated
from fse_core.doctor.log.tracebacks import exception

ON = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS is enabled but "
SPEC = "shared expert has a different quantization spec than routed experts"
REASON = "Quark excludes shared experts at model.layers.3.mlp.shared_experts"


@pytest.mark.parametrize(
    ("text", "process", "level"),
    [
        ("(Worker_TP0 pid=12) WARNING 11-30 13:49:44 [utils.py:87] words", "Worker_TP0", "WARNING"),
        ("(Worker_TP1_EP1 pid=12) WARNING 11-30 13:49:44.123 [a/.../utils.py:87] words", "Worker_TP1_EP1", "WARNING"),
        ("\x1b[0;36m(EngineCore_DP3 pid=7)\x1b[0;0m \x1b[33mWARNING\x1b[0m \x1b[90m11-30 13:49:44\x1b[0m "
         "\x1b[90m[utils.py:87]\x1b[0m words", "EngineCore_DP3", "WARNING"),
        ("\x1b[1;36m(VllmWorker TP0 pid=12)\x1b[0;0m INFO 11-30 13:49:44 [u.py:1] words", "VllmWorker_TP0", "INFO"),
        ("(VllmWorker rank=3 pid=12) ERROR 11-30 13:49:44 [u.py:1] words", "VllmWorker3", "ERROR"),
        ("(RayWorkerWrapper pid=12, ip=10.0.0.1) ERROR 11-30 13:49:44 [u.py:1] words", "RayWorkerWrapper_12", "ERROR"),
        ("vllm-1  | (Worker_TP0 pid=12) INFO 11-30 13:49:44 [u.py:1] words\r", "Worker_TP0", "INFO"),
        ("2026-11-30T13:49:44.000Z INFO 11-30 13:49:44 [u.py:1] words", "", "INFO"),
        ("words", "", ""),
    ],
)  # fmt: skip
def test_processes_and_levels(text: str, process: str, level: str) -> None:
    line = parsed(text.encode() + b"\n")
    assert (line.text, line.process, line.level, line.times) == ("words", process, level, 1)


def test_a_line_that_stands_for_several() -> None:
    line = parsed(b"(RayWorkerWrapper pid=1) words [repeated 7x across cluster] (Ray deduplicates logs)")
    assert (line.text, line.times) == ("words", 7)


def test_a_line_of_json() -> None:
    whole = {"message": "words", "levelname": "WARNING", "processName": "Worker_TP0", "process": 5}
    assert parsed(json.dumps(whole).encode()) == Line(text="words", process="Worker_TP0", level="WARNING")
    assert parsed(b'{"message": 1}').text == '{"message": 1}'
    assert parsed(b"{" * 100_000).process == ""


def test_bytes_that_are_no_text() -> None:
    assert parsed(b"\xff\xfe words").text.endswith("words")


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        (f"{ON}cannot be enabled: {REASON}.", Notice(kind="refused", text=REASON)),
        (f"{ON}cannot be enabled - skipping for this layer: {REASON}.", Notice(kind="refused", text=REASON)),
        (f"{ON}cannot be enabled: {REASON[:20]}", Notice(kind="refused", text=REASON[:20], cut=True)),
        (f"{ON}{SPEC}. Falling back to non-fused shared expert path.", Notice(kind="refused", text=SPEC)),
        ("VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS is ignored for GLM-5.3-Flash: the GPU is not gfx950; "
         "tensor_parallel_size is 2. AITER has tuned configs for its", Notice(
            kind="declined", text="the GPU is not gfx950; tensor_parallel_size is 2")),
        ("FSE: 58 of 58 MoE layers fused, more", Notice(kind="plugin", text="FSE: 58 of 58 MoE layers fused, more")),
        ("Quantized 80 layers of types: a: 40", Notice(kind="quantized", text="Quantized 80 layers of types: a: 40")),
        ("non-default args: {'a': 1}", Notice(kind="arguments", text="{'a': 1}")),
        ("  █▄█▀ █     █     █     █  model   org/m", Notice(kind="model", text="org/m")),
        (" ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.33.0", Notice(kind="version", text="0.33.0")),
        ("Loading weights took 3.1 seconds", Notice(kind="loaded", text="")),
        ("Starting vLLM server on http://0.0.0.0:8000", Notice(kind="serves", text="")),
        ("Using AITER Fp8 MoE backend out of", Notice(kind="built", text="")),
    ],
)  # fmt: skip
def test_what_lines_say(text: str, notice: Notice) -> None:
    assert notices(Line(text=text), whole=True) == [notice]


def test_one_line_may_say_two_things() -> None:
    line = Line(text="Initializing a V1 LLM engine (v0.28.0) with config: model='org/m', x=1")
    assert [(one.kind, one.text) for one in notices(line, whole=True)] == [("version", "0.28.0"), ("model", "org/m")]


def test_the_override_of_the_platform() -> None:
    text = (
        "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS is enabled, which requires the 'grouped_topk' custom op. Overriding"
    )
    assert [one.kind for one in notices(Line(text=text), whole=True)] == ["platform"]


def test_other_lines_say_nothing() -> None:
    assert notices(Line(text="VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS=1"), whole=True) == []


def test_counts_of_the_plugin() -> None:
    assert stated("FSE: 0 of 58 MoE layers fused: why") == (0, 58)


def test_names_of_exceptions() -> None:
    assert exception("pydantic_core._pydantic_core.ValidationError: 1 error") == "ValidationError: 1 error"
    assert exception("AssertionError") == "AssertionError"
