"""The shipped examples: what our check says of each is what the release said, and their table lists them all."""

import json
from typing import Any

import pytest

from examples.check import HERE, Example, examples, main, observed

ALL = examples()


@pytest.mark.parametrize("example", ALL, ids=lambda example: example.name)
def test_is_as_the_release_answered(example: Example) -> None:
    assert observed(example.check()) == example.expected


def test_every_kind_of_verdict_and_of_answer_is_shown() -> None:
    assert len(ALL) >= 14
    assert {example.expected["verdict"] for example in ALL} == {"fuses", "separate", "fails", "not_applicable"}
    said = " ".join(str(example.expected["says"]) for example in ALL)
    for words in (
        "FP8 ignores routed and shared experts inconsistently",
        "FP8 shared-expert FSE is only implemented for block-quantized checkpoints",
        "not implemented for ModelOptNvFp4Config",
        "not implemented for CompressedTensorsConfig",
        "Quark excludes shared experts",
        "Quark uses different quantization configurations",
        "DeepSeek-V4/V4.1 FSE is only implemented/tested with Quark MXFP4",
        "MXFP8 excludes routed and shared experts inconsistently",
        "Detected some but not all shards",
        "Fused shared experts must be enabled for all MoE layers",
        "tensor_parallel_size is 1",
    ):
        assert words in said


def test_the_table_lists_each_example_with_its_verdict() -> None:
    rows = [line.split("|") for line in (HERE / "README.md").read_text().splitlines() if line.startswith("| [")]
    listed = {row[1].split("]")[0].strip(" ["): row[3].strip(" `") for row in rows}
    assert listed == {example.folder.name: example.expected["verdict"] for example in ALL}


def test_the_script_prints_all_and_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main() == 0
    assert f"{len(ALL)} examples checked, {len(ALL)} as vLLM itself answered" in capsys.readouterr().out


def test_the_script_fails_where_one_differs(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    wrong = Example(folder=ALL[0].folder, target=ALL[0].target, expected={"verdict": "breaks"})
    monkeypatch.setattr("examples.check.examples", lambda: [wrong])
    assert main() == 1
    assert f"DIFFERS: expected {json.dumps(wrong.expected)}" in capsys.readouterr().out
