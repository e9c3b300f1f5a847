"""`conformance.findings`: a certain finding that a recorded answer contradicts is told of, and no other."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance import findings
from tests.models import DEEPSEEK, FP8_BLOCK
from tests.rules.cases import NVFP4, QWEN3_NEXT

EXPERTS = "model.layers.{i}.mlp.experts"


def answer(*, slots: int, error: dict[str, str] | None = None) -> dict[str, Any]:
    asked = {
        "layers": [3, 4],
        "experts": EXPERTS,
        "shared": "model.layers.{i}.mlp.shared_experts",
        "compatible": slots > 0,
        "reason": None,
        "error": None,
    }
    built = {"modules": 2, "first": f"{EXPERTS}.routed_experts", "fused_shared_slots": slots}
    return {"name": "one", "fused": [slots > 0], "error": error, "decisions": [asked], "built": [built]}


def told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, config: dict[str, Any], recorded: dict[str, Any], *options: str
) -> int:
    (folder / "one").mkdir()
    (folder / "one" / "config.json").write_text(json.dumps(config))
    (folder / "answers").mkdir()
    (folder / "answers" / "0.33.0-gfx942-tp8.jsonl").write_text(json.dumps(recorded) + "\n")
    monkeypatch.setattr(sys, "argv", ["findings", str(folder), *options])
    return findings.main()


def test_what_the_answers_bear_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = {**DEEPSEEK, "quantization_config": NVFP4}
    assert told(tmp_path, monkeypatch, model, answer(slots=0), "--show", "FSE119") == 0
    out = capsys.readouterr().out
    assert out.startswith("FSE119 one: [info, certain] Layers 3-4 (2): not fused, for the gate of vLLM # has no branch")
    assert "FSE119 method-not-in-gate: 1 findings, 1 certain, 1 models\n0 contradicted / 1 certain findings\n" in out


def test_layers_that_are_fused_after_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = {**DEEPSEEK, "quantization_config": NVFP4}
    assert told(tmp_path, monkeypatch, model, answer(slots=1)) == 1
    assert "But layer 3 is fused.\n1 contradicted / 1 certain findings\n" in capsys.readouterr().out


def test_a_start_that_does_not_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = {**QWEN3_NEXT, "quantization_config": FP8_BLOCK}
    assert told(tmp_path, monkeypatch, model, answer(slots=1)) == 1
    assert "FSE113: Layers 0-3 (4)" in capsys.readouterr().out


def test_a_start_that_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = {**QWEN3_NEXT, "quantization_config": FP8_BLOCK}
    recorded = answer(slots=0, error={"type": "ValueError", "message": "not divisible"})
    assert told(tmp_path, monkeypatch, model, recorded) == 0


def test_a_corpus_without_any_model_passes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["findings", str(tmp_path)])
    assert findings.main() == 1
