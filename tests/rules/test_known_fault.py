"""FSE150: what a release's data says goes wrong in it, under conditions that are looked up by name."""

from typing import Any

import pytest

from fse_core import releases
from fse_core.releases.release import Fault, Release
from tests.models import DEEPSEEK, FP8_BLOCK, QUARK_MXFP4, asked
from tests.rules.cases import FP8_BY_ROW, FP8_ROWS, GLM_4_7_FLASH, INT4, QWEN3_NEXT, R1, compressed, of, only, shared
from tests.rules.situations.requesting import LAGUNA

RULE = "FSE150"
FUSION = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"
V4: dict[str, Any] = {
    "architectures": ["DeepseekV4ForCausalLM"],
    "model_type": "deepseek_v4",
    "num_hidden_layers": 2,
    "n_shared_experts": 1,
    "expert_dtype": "fp4",
}


class Faults:
    """Gives releases a fault, up to (and without) a release that does not have it any more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch
        self._real = releases.load

    def give(self, cured: str | None = None, **fields: Any) -> None:
        given: dict[str, Any] = {"text": "It goes wrong.", "source": "read somewhere"}
        classes = {"DeepseekV3ForCausalLM", "DeepSeekMTP", "Qwen3NextForCausalLM", "DeepseekV4ForCausalLM"}
        fault = Fault(**{**given, "classes": frozenset(classes), "consequence": "load_fails", **fields})

        def load(version: str) -> Release:
            release = self._real(version)
            has = cured is None or releases.known().index(release.version) < releases.known().index(cured)
            data = {name: getattr(release, name) for name in release.__dataclass_fields__}
            return Release(**{**data, "faults": {"made_up": fault} if has else {}})

        self._patch.setattr(releases, "load", load)


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> Faults:
    return Faults(monkeypatch)


def test_a_certain_one_breaks_what_fuses(faults: Faults) -> None:
    faults.give(confidence="certain", part="target")
    report = asked(FP8_BLOCK)
    finding = only(report, RULE)
    assert (report.verdict, finding.severity, finding.layers) == ("breaks", "error", "3-4")
    assert finding.message == "Layers 3-4 (2): vLLM 0.33.0 has a known fault. It goes wrong."
    assert finding.evidence == ("made_up: read somewhere",)


def test_a_likely_one_does_not(faults: Faults) -> None:
    faults.give()
    report = asked(FP8_BLOCK)
    assert (report.verdict, only(report, RULE).confidence) == ("fuses", "likely")


@pytest.mark.parametrize(
    ("consequence", "severity"), [("none", "info"), ("slower", "warning"), ("load_fails", "error")]
)
def test_severity_follows_the_consequence(faults: Faults, consequence: str, severity: str) -> None:
    faults.give(consequence=consequence)
    assert only(asked(FP8_BLOCK), RULE).severity == severity


@pytest.mark.parametrize(("part", "parts"), [("draft", ["draft"]), ("target", ["target"]), (None, ["target", "draft"])])
def test_it_may_strike_one_part_alone(faults: Faults, part: str | None, parts: list[str]) -> None:
    faults.give(part=part)
    assert [finding.part for finding in asked(FP8_BLOCK).findings] == parts


@pytest.mark.parametrize(
    ("decision", "off", "hit"),
    [("fused", False, 1), ("fused", True, 0), ("separate", False, 0), ("separate", True, 1), ("any", True, 1)],
)
def test_it_strikes_layers_with_that_decision(faults: Faults, decision: str, off: bool, hit: int) -> None:
    faults.give(decision=decision)
    report = asked(FP8_BLOCK, environment={FUSION: "0"} if off else {})
    assert len(of(report, RULE)) == hit
    assert report.verdict == ("separate" if off else "fuses")


def test_without_classes_it_is_only_told(faults: Faults) -> None:
    faults.give(classes=frozenset())
    assert asked(FP8_BLOCK).findings == ()


def test_fixes_turn_fusion_off_or_name_the_first_release_without_it(faults: Faults) -> None:
    faults.give(cured="0.31.0")
    fixes = only(asked(FP8_BLOCK, vllm="0.29.0"), RULE).fixes
    assert [(fix.kind, fix.patch) for fix in fixes] == [("env", {FUSION: "0"}), ("release", {"vllm": "0.31.0"})]
    assert asked(FP8_BLOCK, vllm="0.31.0").findings == ()


def test_what_fails_for_the_variable_is_not_said_to_ignore_it() -> None:
    report = asked(None, GLM_4_7_FLASH, vllm="0.18.0", draft=False)
    assert "IndexError while loading" in only(report, RULE).message
    assert "does nothing" not in only(report, "FSE120").message
    assert "does nothing" in only(asked(None, LAGUNA), "FSE120").message


def test_no_gain_is_told_beside_an_error_about_the_same_layers(faults: Faults) -> None:
    assert len(of(asked(FP8_BLOCK, R1, draft=False), "FSE138")) == 1
    faults.give(consequence="slower")
    assert len(of(asked(FP8_BLOCK, R1, draft=False), "FSE138")) == 1
    faults.give(part="draft")
    assert len(of(asked(FP8_BLOCK, R1), "FSE138")) == 1
    faults.give()
    report = asked(FP8_BLOCK, R1, draft=False)
    assert (len(of(report, RULE)), of(report, "FSE138")) == (1, [])


def test_no_release_is_named_where_none_is_without_it(faults: Faults) -> None:
    faults.give(decision="separate")
    assert only(asked(FP8_BLOCK, environment={FUSION: "0"}), RULE).fixes == ()


def test_a_fault_that_surely_breaks_the_slots_makes_what_is_stored_in_them_moot(faults: Faults) -> None:
    narrow = {**QWEN3_NEXT, "shared_expert_intermediate_size": 256}
    faults.give(confidence="certain")
    assert [finding.rule for finding in asked(None, narrow, draft=False).findings] == [RULE]
    faults.give(confidence="likely")
    assert [finding.rule for finding in asked(None, narrow, draft=False).findings] == ["FSE117", RULE]


@pytest.mark.parametrize(
    ("condition", "block", "config", "target", "holds"),
    [
        ("fusion_requested", None, DEEPSEEK, {}, True),
        ("fusion_requested", None, DEEPSEEK, {"environment": {FUSION: "0"}}, False),
        ("fusion_off", None, DEEPSEEK, {"environment": {FUSION: "0"}}, True),
        ("fusion_off", None, DEEPSEEK, {}, False),
        ("aiter_experts", None, DEEPSEEK, {"gfx": "gfx950"}, True),
        ("aiter_experts", None, DEEPSEEK, {"gfx": "gfx1100"}, False),
        ("aiter_experts", None, DEEPSEEK, {"environment": {"VLLM_ROCM_USE_AITER_MOE": "0"}}, False),
        ("triton_experts", None, DEEPSEEK, {"moe_backend": "triton"}, True),
        ("triton_experts", None, DEEPSEEK, {}, False),
        ("aiter_mode", None, DEEPSEEK, {}, True),
        ("fp4_experts", None, V4, {}, True),
        ("fp4_experts", None, {**V4, "expert_dtype": "fp8"}, {}, False),
        ("fp8_block", FP8_BLOCK, DEEPSEEK, {}, True),
        ("fp8_block", {**FP8_BLOCK, "weight_block_size": None}, DEEPSEEK, {}, False),
        ("fp8_block", QUARK_MXFP4, DEEPSEEK, {}, False),
        ("quark_excludes_shared", {**QUARK_MXFP4, "exclude": shared(3)}, DEEPSEEK, {}, True),
        ("quark_excludes_shared", QUARK_MXFP4, DEEPSEEK, {}, False),
        ("quark_excludes_shared", {**FP8_BLOCK, "ignored_layers": shared(3)}, DEEPSEEK, {}, False),
        ("row_scales", {**QUARK_MXFP4, "global_quant_config": FP8_ROWS}, DEEPSEEK, {}, True),
        ("row_scales", compressed(FP8_BY_ROW, "float-quantized"), DEEPSEEK, {}, False),
        ("row_scales", FP8_BLOCK, DEEPSEEK, {}, False),
        ("method_not_adapted", QUARK_MXFP4, DEEPSEEK, {}, True),
        ("method_not_adapted", compressed(INT4, "pack-quantized"), DEEPSEEK, {}, True),
        ("method_not_adapted", compressed(FP8_BY_ROW, "float-quantized"), DEEPSEEK, {}, False),
        ("method_not_adapted", FP8_BLOCK, DEEPSEEK, {}, False),
        ("method_not_adapted", None, DEEPSEEK, {}, False),
    ],
)
def test_conditions(
    faults: Faults, condition: str, block: Any, config: dict[str, Any], target: dict[str, Any], holds: bool
) -> None:
    faults.give(decision="any", when=(condition,))
    report = asked(block, config, **{"vllm": "0.28.0", "draft": False, **target})
    assert bool(of(report, RULE)) is holds


def test_a_heterogeneous_layer_is_not_in_the_ordinary_mode(faults: Faults) -> None:
    shape = {"num_experts_per_tok": 6, "n_routed_experts": 384, "hidden_size": 7168, "moe_intermediate_size": 3072}
    native = {**V4, **shape, "hidden_act": "silu", "topk_method": "noaux_tc"}
    block = {**FP8_BLOCK, "scale_fmt": "ue8m0"}
    faults.give(when=("aiter_mode",))
    report = asked(block, native, vllm="0.32.0", gfx="gfx950", tp=8, moe_backend="aiter", draft=False)
    assert {layer.mode for layer in report.layers} == {"heterogeneous"}
    assert of(report, RULE) == []


def test_all_conditions_must_hold(faults: Faults) -> None:
    faults.give(when=("fp8_block", "triton_experts"))
    assert len(of(asked(FP8_BLOCK, moe_backend="triton"), RULE)) == 1
    assert of(asked(FP8_BLOCK), RULE) == []
    assert of(asked(QUARK_MXFP4, moe_backend="triton"), RULE) == []
