"""The pipeline: what asks for fusion, what aborts the start, what belongs to target and draft, what stays undecided."""

from dataclasses import replace
from typing import Any

import pytest

from fse_core import Target, check
from fse_core.errors import InputError
from fse_core.read.source import model_from_dict
from fse_core.report import Failure
from tests.models import DEEPSEEK, FP8_BLOCK, QUARK_MXFP4, SHARED, asked, first_words

AITER = "VLLM_ROCM_USE_AITER"
FUSION = f"{AITER}_FUSION_SHARED_EXPERTS"


def ignoring(*layers: int) -> dict[str, Any]:
    names = [SHARED.replace(".3.", f".{layer}.") for layer in layers]
    leaves = ("gate_proj", "up_proj", "down_proj")
    return {**FP8_BLOCK, "ignored_layers": [f"{name}.{leaf}" for name in names for leaf in leaves]}


def test_every_layer_and_the_draft_are_reported() -> None:
    report = asked(FP8_BLOCK)
    assert report.verdict == "fuses"
    assert [(layer.index, layer.part, layer.slots) for layer in report.layers] == [
        (3, "target", 1),
        (4, "target", 1),
        (5, "draft", 1),
    ]
    assert [layer.part for layer in asked(FP8_BLOCK, draft=False).layers] == ["target", "target"]


@pytest.mark.parametrize("value", ["0", "False", "", "yes", "on"])
@pytest.mark.parametrize("variable", [AITER, f"{AITER}_MOE", FUSION])
def test_a_variable_that_is_off_means_not_requested(variable: str, value: str) -> None:
    report = asked(FP8_BLOCK, environment={variable: value})
    assert (report.verdict, report.requested) == ("separate", False)
    assert report.requested_reason == f"{variable} is not on"
    assert first_words(report) == "separate"


@pytest.mark.parametrize("value", ["1", "true", "TRUE", "True"])
def test_what_vllm_takes_for_true(value: str) -> None:
    assert asked(FP8_BLOCK, environment={AITER: value, FUSION: value}).verdict == "fuses"


@pytest.mark.parametrize(("gfx", "verdict"), [("gfx942", "fuses"), ("gfx950", "fuses"), ("gfx1250", "fuses")])
def test_gpus_that_fuse(gfx: str, verdict: str) -> None:
    assert asked(FP8_BLOCK, gfx=gfx).verdict == verdict


@pytest.mark.parametrize("gfx", ["gfx90a", "gfx1100"])
def test_gpus_without_aiter(gfx: str) -> None:
    report = asked(FP8_BLOCK, gfx=gfx)
    assert report.verdict == "separate"
    assert report.requested_reason is not None
    assert gfx in report.requested_reason


def test_layers_that_disagree_abort_the_start() -> None:
    report = asked(ignoring(4))
    assert report.verdict == "fails"
    assert report.startup_error is not None
    assert report.startup_error.type == "NotImplementedError"
    assert report.startup_error.message == (
        "Fused shared experts must be enabled for all MoE layers; found 1 enabled and 1 disabled layers. "
        "Per-layer fused shared experts is not yet supported. Please open an issue."
    )
    assert [layer.decision.decision for layer in report.layers] == ["fused", "separate", "undecided"]


def test_stages_that_split_where_layers_differ_may_start() -> None:
    """Each pipeline stage compares its own layers alone: read in the release's source."""
    assert asked(ignoring(4), pp=2).verdict == "fails"
    split = asked(ignoring(4), pp=2, environment={"VLLM_PP_LAYER_PARTITION": "4,1"}, draft=False)
    assert (split.verdict, split.startup_error) == ("fuses", None)


@pytest.mark.parametrize(
    ("text", "pp", "words"),
    [
        ("4,4", 2, "sum(partitions)=8 does not match num_hidden_layers=5."),
        ("3,2", 1, "len(partitions)=2 does not match pp_size=1."),
        ("a", 1, "Invalid partition string: a"),
    ],
)
def test_a_partition_that_does_not_fit_ends_the_start(text: str, pp: int, words: str) -> None:
    report = asked(FP8_BLOCK, pp=pp, environment={"VLLM_PP_LAYER_PARTITION": text})
    assert report.startup_error == Failure(type="ValueError", message=words)
    assert {layer.decision.decision for layer in report.layers} == {"undecided"}


def test_no_shared_experts_are_still_decided_about() -> None:
    """vLLM asks its gate for a count of zero; nothing is listed, but what it raises counts."""
    none = {**DEEPSEEK, "n_shared_experts": 0}
    report = asked(FP8_BLOCK, none)
    assert (report.verdict, report.layers) == ("not_applicable", ())
    partial = asked({**FP8_BLOCK, "ignored_layers": [f"{SHARED}.gate_proj"]}, none)
    assert partial.verdict == "fails"
    assert partial.startup_error is not None
    assert partial.startup_error.message.startswith("Detected some but not all shards")
    mixed = asked(ignoring(4), none)
    assert mixed.startup_error is not None
    assert mixed.startup_error.type == "NotImplementedError"


@pytest.mark.parametrize("config", [{"architectures": ["MixtralForCausalLM"]}, {**DEEPSEEK, "n_shared_experts": None}])
def test_mori_refuses_models_without_shared_experts_too(config: dict[str, Any]) -> None:
    report = asked(None, config, ep=True, dp=2, all2all_backend="mori_low_latency")
    assert (report.verdict, report.layers) == ("fails", ())


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({**FP8_BLOCK, "weight_block_size": None}, "Detected some but not all shards"),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "Detected some but not all shards"),
    ],
)
def test_a_module_kept_apart_may_still_not_be_built(block: dict[str, Any], words: str) -> None:
    key = "ignored_layers" if block["quant_method"] == "fp8" else "ignore"
    report = asked({**block, key: [f"{SHARED}.gate_proj"]})
    assert [layer.decision.decision for layer in report.layers] == ["separate", "undecided", "undecided"]
    assert report.startup_error is not None
    assert report.startup_error.message.startswith(words)


def test_a_config_made_to_be_slow_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fse_core.pipeline._PATIENCE", 0.0)
    report = asked(FP8_BLOCK)
    assert (report.verdict, report.out_of_time, report.layers) == ("undecided", True, ())
    assert not asked({**FP8_BLOCK, "weight_block_size": [128, "x"]}).out_of_time


def test_a_draft_that_differs_leaves_the_verdict() -> None:
    report = asked(ignoring(5))
    assert (report.verdict, report.startup_error) == ("fuses", None)
    assert [layer.decision.decision for layer in report.layers] == ["fused", "fused", "separate"]


def test_mori_refuses_that_fusion_is_asked_for() -> None:
    options: dict[str, Any] = {"ep": True, "dp": 2, "all2all_backend": "mori_high_throughput"}
    report = asked(ignoring(3, 4, 5), **options)
    assert report.verdict == "fails"
    assert report.startup_error is not None
    assert report.startup_error.message.startswith("Mori does not support fusion shared expert now.")
    assert asked(FP8_BLOCK, **{**options, "dp": 1}).verdict == "fuses"
    off = asked(FP8_BLOCK, **options, environment={FUSION: "0"})
    assert (off.verdict, off.startup_error) == ("separate", None)


def test_an_error_stops_there() -> None:
    report = asked({**FP8_BLOCK, "ignored_layers": [f"{SHARED}.gate_proj"]})
    assert report.verdict == "fails"
    assert report.startup_error is None
    assert [layer.decision.decision for layer in report.layers] == ["error", "undecided", "undecided"]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, "names no architecture"),
        ({"architectures": ["Nobody"]}, "Nobody is not known"),
        ({"architectures": "DeepseekV3ForCausalLM"}, "architectures: expected a list"),
        ({**DEEPSEEK, "num_hidden_layers": "5"}, "num_hidden_layers: expected an integer"),
        ({**DEEPSEEK, "quantization_config": [1]}, "quantization_config: expected an object"),
        (
            {**DEEPSEEK, "quantization_config": {**FP8_BLOCK, "weight_block_size": [128, "128"]}},
            'quantization_config.weight_block_size[1]: expected an integer, got "128"',
        ),
    ],
)
def test_what_cannot_be_read_is_undecided(config: dict[str, Any], words: str) -> None:
    report = check(model_from_dict(config), Target())
    assert report.verdict == "undecided"
    assert report.undecided_reason is not None
    assert words in report.undecided_reason
    assert report.layers == ()


def test_models_without_shared_experts() -> None:
    for architecture in ("Qwen3MoeForCausalLM", "LlamaForCausalLM"):
        report = asked(None, {"architectures": [architecture], "num_hidden_layers": 2, "num_experts": 8})
        assert (report.verdict, report.layers) == ("not_applicable", ())


@pytest.mark.parametrize("release", ["0.1", "nonsense"])
def test_an_unknown_release_is_a_wrong_target(release: str) -> None:
    with pytest.raises(InputError, match="--vllm"):
        asked(FP8_BLOCK, vllm=release)


@pytest.mark.parametrize("option", ["moe_backend", "all2all_backend"])
def test_a_backend_that_does_not_exist_is_a_wrong_target(option: str) -> None:
    with pytest.raises(InputError, match=r"expected one of .*, got 'aitre'"):
        check(model_from_dict(DEEPSEEK), replace(Target(), **{option: "aitre"}))  # type: ignore[arg-type]


def test_the_release_is_named_in_full() -> None:
    assert asked(FP8_BLOCK, vllm="0.33.0+rocm721").target["vllm"] == "0.33.0"
    assert asked(QUARK_MXFP4, vllm="latest").target["vllm"] == "0.33.0"
