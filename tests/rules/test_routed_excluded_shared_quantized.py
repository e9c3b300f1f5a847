"""FSE108: 16-bit routed experts beside a quantized shared one. Measured on 0.28.0 and 0.31.0."""

from typing import Any

import pytest

from fse_core.request import FUSION
from tests.models import FP8_BLOCK, QUARK_MXFP4, asked
from tests.rules.cases import QWEN3_NEXT, only, shared
from tests.rules.stored import breaking, found, mxfp4, plain, tensors

RULE = "FSE108"
QUARK = {**QUARK_MXFP4, "exclude": ["re:.*mlp\\.experts.*"]}


@pytest.mark.parametrize("version", ["0.28.0", "0.30.0", "0.33.0"])
def test_quark_does_not_look_at_the_routed_experts(version: str) -> None:
    report = asked(QUARK, vllm=version, gfx="gfx950")
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("breaks", "load_fails", "certain")
    assert "MXFP4" in finding.message
    assert finding.evidence == ("quantization_config.exclude",)


def test_fp8_in_a_release_without_a_gate() -> None:
    report = asked({**FP8_BLOCK, "ignored_layers": ["model.layers.4.mlp.experts.0.gate_proj"]}, vllm="0.28.0")
    assert (report.verdict, only(report, RULE).layers) == ("breaks", "4")


def test_a_class_that_passes_over_the_scales_raises_nothing() -> None:
    block = {**FP8_BLOCK, "ignored_layers": ["model.layers.2.mlp.experts.0.gate_proj"]}
    finding = only(asked(block, QWEN3_NEXT, vllm="0.24.0"), RULE)
    assert (finding.consequence, finding.confidence) == ("silent_corruption", "likely")


@pytest.mark.parametrize("version", ["0.28.0", "0.33.0"])
def test_the_headers_confirm_it(version: str) -> None:
    report = found(tensors(plain, mxfp4), QUARK, vllm=version)
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("breaks", "load_fails", "certain")
    assert finding.fixes[0].patch == {FUSION: "0"}


@pytest.mark.parametrize("version", ["0.28.0", "0.33.0"])
def test_the_headers_settle_that_the_shared_expert_is_not_quantized_either(version: str) -> None:
    assert breaking(found(tensors(plain, plain), QUARK, vllm=version)) == []


@pytest.mark.parametrize(
    "block",
    [
        QUARK_MXFP4,
        {**QUARK_MXFP4, "exclude": [*QUARK["exclude"], *shared(3, 4, 5)]},
        {**FP8_BLOCK, "ignored_layers": ["model.layers.3.mlp.gate"]},
    ],
)
def test_both_alike_are_left_alone(block: dict[str, Any]) -> None:
    report = asked(block, vllm="0.28.0", gfx="gfx950")
    assert (report.verdict, report.findings) == ("fuses", ())
