"""The parts of a page on their own: the command, the bytes, the sentence."""

import shlex
from typing import Any

import pytest

from fse_core import Target, check
from fse_core.output.json import report_to_dict
from fse_core.read.source import model_from_dict
from fse_core.report import Source
from service.pages.ages import ago
from service.pages.launch import command
from service.pages.layers import layers_of
from service.pages.memory import Slots, fused_slots, readable
from service.pages.verdict import verdict_of
from tests.models import DEEPSEEK, FP8_BLOCK, QUARK_MXFP4

FP8 = {**DEEPSEEK, "quantization_config": FP8_BLOCK}
QUARK = {**DEEPSEEK, "quantization_config": QUARK_MXFP4}
QUARK_WHOLE_LAYER = ["model.layers.3.mlp.experts", "model.layers.3.mlp.shared_experts"]


def _report(config: dict[str, Any], target: Target) -> dict[str, Any]:
    return report_to_dict(check(model_from_dict(config), target))


def _slots(config: dict[str, Any], target: Target) -> Slots | str:
    return fused_slots(layers_of(_report(config, target)), model_from_dict(config), target)


def test_the_command_says_all_of_the_target() -> None:
    target = Target(
        gfx="gfx950",
        tp=4,
        dp=2,
        pp=2,
        pcp=2,
        ep=True,
        eplb=True,
        dbo=True,
        moe_backend="aiter",
        all2all_backend="naive",
        environment={"VLLM_ROCM_USE_AITER_MOE": "true", "NOTE": "it's; $HOME"},
        overlay={"targets": {"*shared_experts*": "mxfp4"}},
    )
    text = command(Source(kind="hub", id="org/name", revision="v1"), _report(FP8, target)["target"])
    words = shlex.split(text.replace("\\\n", " "))
    assert words == [
        "VLLM_ROCM_USE_AITER=1",
        "VLLM_ROCM_USE_AITER_MOE=true",
        "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS=1",
        "NOTE=it's; $HOME",
        *("vllm", "serve", "org/name", "--revision", "v1"),
        *("--tensor-parallel-size", "4", "--pipeline-parallel-size", "2", "--data-parallel-size", "2"),
        *("--prefill-context-parallel-size", "2", "--enable-expert-parallel", "--enable-eplb", "--enable-dbo"),
        *("--moe-backend", "aiter", "--all2all-backend", "naive"),
        *("--quantization-config", '{"targets": {"*shared_experts*": "mxfp4"}}'),
    ]


@pytest.mark.parametrize(
    ("source", "revision"),
    [
        (Source(kind="hub", id="org/name", revision="main", commit="c" * 40), "c" * 40),
        (Source(kind="hub", id="org/name", revision="v1", commit="c" * 40), "c" * 40),
        (Source(kind="hub", id="org/name", revision="v1"), "v1"),
        (Source(kind="hub", id="org/name", revision="main"), None),
        (Source(kind="hub", id="org/name"), None),
        (Source(kind="path", id="/a/model"), None),
    ],
)
def test_the_command_serves_what_was_looked_at(source: Source, revision: str | None) -> None:
    words = shlex.split(command(source, Target().as_dict()).replace("\\\n", " "))
    assert words[words.index("serve") + 1] == source.id
    assert ("--revision" in words) is (revision is not None)
    assert revision is None or words[words.index("--revision") + 1] == revision


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "less than a minute ago"),
        (60, "1 minute ago"),
        (3599, "59 minutes ago"),
        (3 * 3600 + 5, "3 hours ago"),
        (200000, "2 days ago"),
    ],
)
def test_an_age_in_plain_words(seconds: float, words: str) -> None:
    assert ago(seconds) == words


BF16_SLOT = 3 * 256 * 256 * 2


@pytest.mark.parametrize(
    ("config", "target", "total"),
    [
        (DEEPSEEK, Target(), 2 * BF16_SLOT),
        (DEEPSEEK, Target(tp=4), 2 * BF16_SLOT // 4),
        (DEEPSEEK, Target(tp=2, dp=2), 2 * BF16_SLOT // 4),
        (DEEPSEEK, Target(tp=4, ep=True), 2 * BF16_SLOT),
        (DEEPSEEK, Target(pp=5), BF16_SLOT),
        ({**DEEPSEEK, "n_shared_experts": 2}, Target(), 4 * BF16_SLOT),
        (FP8, Target(), 2 * 3 * (256 * 256 + 4 * 4)),
        (QUARK, Target(gfx="gfx950"), 2 * 3 * 256 * (256 // 2 + 256 // 32)),
    ],
)
def test_the_bytes_of_the_slots(config: dict[str, Any], target: Target, total: int) -> None:
    found = _slots(config, target)
    assert isinstance(found, Slots)
    assert found.total == total == found.each * found.slots * found.layers


@pytest.mark.parametrize(
    ("config", "target", "words"),
    [
        (DEEPSEEK, Target(gfx="gfx90a"), "No layer is fused"),
        (DEEPSEEK, Target(tp=3), "does not divide by 3"),
        ({**DEEPSEEK, "hidden_size": None}, Target(), "hidden_size"),
        ({**DEEPSEEK, "moe_intermediate_size": None}, Target(), "width of a routed expert"),
        ({**QUARK, "quantization_config": {**QUARK_MXFP4, "layer_quant_config": {"*x*": {}}}}, Target(), "Quark"),
        (
            {**QUARK, "quantization_config": {**QUARK_MXFP4, "exclude": ["model.layers.3.mlp.experts"]}},
            Target(),
            "goes wrong",
        ),
        (
            {**QUARK, "quantization_config": {**QUARK_MXFP4, "exclude": QUARK_WHOLE_LAYER}},
            Target(),
            "left out",
        ),
    ],
)
def test_what_is_not_known_is_said(config: dict[str, Any], target: Target, words: str) -> None:
    found = _slots(config, target)
    assert isinstance(found, str)
    assert words in found


def test_without_the_config_nothing_is_computed() -> None:
    found = fused_slots(layers_of(_report(DEEPSEEK, Target())), None, Target())
    assert isinstance(found, str)
    assert found.startswith("Not known")


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (1023, "1,023 bytes"), (1536, "1.5 KiB"), (5 * 2**30, "5.0 GiB")]
)
def test_sizes_are_readable(size: int, text: str) -> None:
    assert readable(size) == text


QWEN2 = {"architectures": ["Qwen2MoeForCausalLM"], "model_type": "qwen2_moe", "num_hidden_layers": 2, "num_experts": 4}


@pytest.mark.parametrize(
    ("config", "target", "sentence"),
    [
        (
            FP8,
            Target(tp=2, ep=True),
            "in all 2 MoE layers and in the draft layer on gfx942 with tp 2 and expert parallel",
        ),
        (FP8, Target(draft=False), "fuses the shared expert in all 2 MoE layers on gfx942 with tp 1."),
        (FP8, Target(environment={"VLLM_ROCM_USE_AITER": "0"}), "because fusion is not asked for."),
        (FP8, Target(gfx="gfx90a"), "because fusion is not asked for."),
        (QWEN2, Target(), "because vLLM's class for this architecture has no fused path."),
        ({"architectures": ["Nobody"]}, Target(), "We cannot tell what vLLM 0.33.0 does"),
        ({"architectures": ["LlamaForCausalLM"]}, Target(), "There is nothing to fuse"),
    ],
)
def test_the_verdict_is_a_sentence(config: dict[str, Any], target: Target, sentence: str) -> None:
    said = verdict_of(_report(config, target)).sentence
    assert sentence in said
    assert said.endswith(".")
    assert said.count(". ") == 0


def test_layers_that_break_are_told_apart_from_fused_ones() -> None:
    report = _report(FP8, Target())
    about: dict[str, Any] = {"severity": "error", "consequence": "load_fails"}
    surely = {**about, "confidence": "certain", "part": "target", "layers": "3"}
    perhaps = {**about, "confidence": "likely", "part": "draft", "layers": "5"}
    report |= {"verdict": "breaks", "findings": [surely, perhaps]}
    layers = layers_of(report)
    assert [(run.indices, run.state) for run in layers.runs] == [
        ((0, 1, 2), "none"),
        ((3,), "breaks"),
        ((4,), "futile"),
        ((5,), "risky"),
    ]
    assert verdict_of(report, layers).state == "breaks"
