"""The plans that are made for tiny checkpoints on single releases, with headers and without."""

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.checkpoints import tensors
from conformance.plugin.beyond import BEYOND
from conformance.plugin.checkpoints import Variant
from conformance.plugin.rows import ROWS
from fse_core.headers import with_headers
from fse_core.plugged.options import FUSION, read
from fse_core.plugged.plan import Plan
from fse_core.read.source import model_from_dict, read_model
from fse_core.target import Target
from fse_core.vllm_plugin import judge
from fse_core.vllm_plugin.subject import Subject

CASES = {row.id: row for row in (*ROWS, *BEYOND)}
PARTS = [f"model.layers.{index}.mlp.shared_experts.{name}_proj" for index in (0, 1) for name in ("gate", "up", "down")]
Ask = Callable[..., Plan | None]


@pytest.fixture
def plan(tmp_path: Path) -> Ask:
    """The plan for a row's checkpoint on a release, by its files, or by its config alone."""

    def made(row: str, release: str, *, files: bool = True, can_quantize: bool = True, **target: Any) -> Plan | None:
        case = CASES[row]
        whole = Target(vllm=release, **{"gfx": "gfx950", "draft": False, **case.options, **target})
        if files:
            (tmp_path / "config.json").write_text(json.dumps(case.checkpoint.config()))
            tensors.write(tmp_path / "model.safetensors", case.checkpoint.tensors())
            model = with_headers(read_model(str(tmp_path)), "full", ())
        else:
            model = model_from_dict(case.checkpoint.config())
        options = read({FUSION: "1", **case.environment})
        return judge.plan(Subject(model=model, target=whole, part="target"), options, can_quantize=can_quantize)

    return made


def test_what_is_stored_alike_is_left_to_the_release(plan: Ask) -> None:
    made = plan("alike-fp8", "0.28.0")
    assert made is not None
    assert (made.refused, made.online, made.accepted, made.left_out) == (None, None, None, ())
    assert made.experts == {f"model.layers.{n}.mlp.shared_experts": f"model.layers.{n}.mlp.experts" for n in (0, 1)}


@pytest.mark.parametrize("release", ["0.24.0", "0.28.0", "0.29.0", "0.31.0", "0.33.0"])
def test_full_precision_beside_mxfp4_is_quantized_where_that_is_asked_for(plan: Ask, release: str) -> None:
    made = plan("mxfp4-plain-online", release)
    assert made is not None
    assert (made.refused, made.online, made.asked) == (None, "mxfp4", "FSE_ONLINE_SHARED_EXPERTS: mxfp4")


def test_a_target_asks_as_well_as_the_variable(plan: Ask) -> None:
    made = plan("mxfp4-plain-targets", "0.31.0")
    assert made is not None
    assert (made.online, made.asked) == ("mxfp4", "targets: *shared_expert*, mxfp4")


def test_without_being_asked_a_release_without_a_gate_is_refused_it(plan: Ask) -> None:
    made = plan("mxfp4-plain", "0.28.0")
    assert made is not None
    assert made.online is None
    assert made.refused is not None
    assert "[FSE101]" in made.refused


def test_a_release_with_a_gate_says_no_itself(plan: Ask) -> None:
    made = plan("mxfp4-plain", "0.33.0")
    assert made is not None
    assert made.refused is None
    assert made.reasons == ["Quark excludes shared experts at model.layers.0.mlp.shared_experts"]


@pytest.mark.parametrize("row", ["mxfp4-glob", "mxfp4-parent", "fp8-parent", "fp8-unlisted"])
@pytest.mark.parametrize("release", ["0.28.0", "0.33.0"])
def test_what_a_list_does_not_say_for_the_release_is_built_as_it_is_stored(plan: Ask, row: str, release: str) -> None:
    made = plan(row, release)
    assert made is not None
    assert made.refused is not None
    assert list(made.left_out) == PARTS


def test_an_exclude_list_that_is_heard_needs_nothing_added(plan: Ask) -> None:
    made = plan("fp8-plain", "0.28.0")
    assert made is not None
    assert made.refused is not None
    assert made.left_out == ()


@pytest.mark.parametrize(
    ("row", "release", "words"),
    [
        ("narrow", "0.33.0", "shared expert"),
        ("wide", "0.33.0", "shared expert"),
        ("quark-fp8-tensor", "0.33.0", "weight_scale"),
        ("quark-fp8-channel", "0.33.0", "weight_scale"),
        ("routed-excluded", "0.33.0", "shared expert"),
        ("deepseek-v3.2", "0.31.0", "known fault"),
        ("deepseek-v4", "0.32.0", "known fault"),
        ("qwen3.5", "0.24.0", "known fault"),
        ("glm-lite", "0.24.0", "known fault"),
        ("refuse-eplb", "0.33.0", "EPLB"),
        ("refuse-triton", "0.28.0", "Triton"),
    ],
)
def test_what_breaks_is_refused_with_the_reason(plan: Ask, row: str, release: str, words: str) -> None:
    made = plan(row, release)
    assert made is not None
    assert made.refused is not None
    assert words in made.refused


def test_emulated_mxfp4_is_refused_where_slots_are_dropped(plan: Ask) -> None:
    made = plan("alike-mxfp4", "0.28.0", gfx="gfx942")
    assert made is not None
    assert made.refused == "MXFP4 is emulated on gfx942, which in vLLM 0.28.0 drops what is sent to a fused slot"
    later = plan("alike-mxfp4", "0.29.0", gfx="gfx942")
    assert later is not None
    assert later.refused is None


@pytest.mark.parametrize("row", ["narrow", "routed-excluded", "mxfp4-glob", "quark-fp8-tensor"])
def test_the_config_alone_is_enough_to_refuse_these(plan: Ask, row: str) -> None:
    made = plan(row, "0.33.0", files=False)
    assert made is not None
    assert made.refused is not None


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ({"gfx": "gfx942"}, "MXFP4 is emulated on gfx942"),
        ({"tp": 16}, "256 columns over tp 16 are 16 a rank, not a multiple of 32"),
    ],
)
def test_what_cannot_be_quantized_is_said_and_not_done(
    plan: Ask, caplog: pytest.LogCaptureFixture, target: Mapping[str, Any], words: str
) -> None:
    made = plan("mxfp4-plain-online", "0.33.0", **target)
    assert made is not None
    assert made.online is None
    assert words in caplog.text


def test_an_unknown_loader_quantizes_nothing(plan: Ask, caplog: pytest.LogCaptureFixture) -> None:
    made = plan("mxfp4-plain-online", "0.28.0", can_quantize=False)
    assert made is not None
    assert made.online is None
    assert made.refused is not None
    assert "the expert weight loader of this vLLM is not one that is known" in caplog.text


@pytest.mark.parametrize(
    ("row", "release", "format"),
    [
        ("online-fp8-block", "0.33.0", "fp8_block"),
        ("online-mxfp8", "0.32.0", "mxfp8"),
        ("online-auto-round", "0.33.0", "mxfp4"),
        ("online-deepseek-v4", "0.33.0", "mxfp4"),
        ("targets-deepseek-v4", "0.33.0", "mxfp4"),
    ],
)
def test_more_formats_and_readers_than_stock_vllm_has(plan: Ask, row: str, release: str, format: str) -> None:
    made = plan(row, release)
    assert made is not None
    assert (made.refused, made.online) == (None, format)


def test_auto_round_without_the_files_is_what_its_block_says(plan: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    told = plan("online-auto-round", "0.33.0", files=False)
    assert told is not None
    assert (told.online, told.packed) == ("mxfp4", True)
    config = CASES["online-auto-round"].checkpoint.config()
    del config["quantization_config"]["extra_config"]
    monkeypatch.setattr(Variant, "config", lambda _: config)
    untold = plan("online-auto-round", "0.33.0", files=False)
    assert untold is not None
    assert untold.online is None


def test_mxfp6_is_never_handed_the_quantizer_of_mxfp4(tmp_path: Path) -> None:
    config = CASES["mxfp4-plain-online"].checkpoint.config()
    block = json.loads(json.dumps(config["quantization_config"]))
    block["global_quant_config"]["weight"]["dtype"] = "fp6_e3m2"
    subject = Subject(
        model=model_from_dict(config | {"quantization_config": block}),
        target=Target(vllm="0.33.0", gfx="gfx950", draft=False),
        part="target",
    )
    made = judge.plan(subject, read({FUSION: "1", "FSE_ONLINE_SHARED_EXPERTS": "mxfp4,mxfp8"}), can_quantize=True)
    assert made is not None
    assert made.online is None


@pytest.mark.parametrize("row", ["accept-ct-block", "accept-ct-channel", "accept-quark-excluded"])
def test_a_kind_that_is_alike_is_accepted_where_the_operator_says_so(plan: Ask, row: str) -> None:
    made = plan(row, "0.33.0")
    assert made is not None
    assert made.accepted == CASES[row].environment["FSE_ACCEPT"]


@pytest.mark.parametrize("release", ["0.31.0", "0.33.0"])
def test_fp8_is_requantized_only_where_the_operator_says_so(plan: Ask, release: str) -> None:
    made = plan("accept-lossy", release)
    assert made is not None
    assert (made.online, made.lossy, made.asked) == ("mxfp4", True, "FSE_ACCEPT: lossy")
    stock = plan("deepseek-v4", release)
    assert stock is not None
    assert (stock.online, stock.lossy) == (None, False)


def test_nothing_is_accepted_by_default(tmp_path: Path) -> None:
    subject = Subject(
        model=model_from_dict(CASES["accept-ct-block"].checkpoint.config()),
        target=Target(vllm="0.33.0", gfx="gfx950", draft=False),
        part="target",
    )
    made = judge.plan(subject, read({FUSION: "1"}), can_quantize=True)
    assert made is not None
    assert made.accepted is None


def test_a_class_that_the_release_does_not_wire_says_so(plan: Ask) -> None:
    made = plan("glm-lite", "0.24.0", environment={})
    assert made is not None
    subject = Subject(
        model=model_from_dict({**CASES["alike-plain"].checkpoint.config(), "architectures": ["Glm4MoeForCausalLM"]}),
        target=Target(vllm="0.24.0", gfx="gfx950", draft=False),
        part="target",
    )
    other = judge.plan(subject, read({FUSION: "1"}), can_quantize=True)
    assert other is not None
    assert other.reasons == ["vLLM 0.24.0 does not fuse Glm4MoeForCausalLM"]


def test_a_model_that_is_not_known_is_left_to_the_release(caplog: pytest.LogCaptureFixture) -> None:
    subject = Subject(
        model=model_from_dict({"architectures": ["NobodyKnowsForCausalLM"]}),
        target=Target(vllm="0.33.0", gfx="gfx950"),
        part="target",
    )
    with caplog.at_level(logging.INFO):
        assert judge.plan(subject, read({FUSION: "1"}), can_quantize=True) is None
    assert "not judged, so that vLLM decides alone: the architecture NobodyKnowsForCausalLM is not known" in caplog.text


def test_nothing_is_planned_where_aiter_is_off(plan: Ask) -> None:
    assert plan("mxfp4-plain", "0.28.0", environment={"VLLM_ROCM_USE_AITER": "0"}) is None
