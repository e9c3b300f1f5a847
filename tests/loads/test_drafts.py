"""What the headers tell of a draft's layers. Measured on 0.24.0 to 0.33.0."""

import pytest

from fse_core import Report
from fse_core.report import Finding
from tests.models import FP8_BLOCK
from tests.rules.cases import GLM_4_7, of
from tests.rules.stored import blocks, expert, found, plain, tensors, without

WHOLE = tensors(plain, plain, layers=(3, 4, 5))
BLOCKS = tensors(blocks, blocks, layers=(3, 4))
ABSENT = "the config knows of a draft, and nothing is stored of this layer"


def drafted(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.part == "draft" and finding.rule != "FSE118"]


def test_a_draft_that_loads_as_it_should() -> None:
    report = found(WHOLE, None, draft=True)
    assert (report.verdict, drafted(report)) == ("fuses", [])


def test_a_draft_without_its_shared_expert() -> None:
    report = found(without(WHOLE, "layers.5.mlp.shared_experts"), None, draft=True)
    (finding,) = drafted(report)
    assert (finding.rule, finding.layers, finding.confidence) == ("FSE130", "5", "certain")
    assert finding.consequence == "silent_corruption"
    assert report.verdict == "fuses"  # of the target


def test_a_draft_that_is_stored_otherwise_than_the_config_says() -> None:
    report = found({**BLOCKS, **tensors(plain, plain, layers=(5,))}, FP8_BLOCK, draft=True)
    assert {(finding.rule, finding.consequence) for finding in drafted(report)} == {("FSE102", "silent_corruption")}


@pytest.mark.parametrize(
    ("config", "quantized", "consequence", "then"),
    [
        ({}, True, "load_fails", "Loading ends in a ValueError."),
        (GLM_4_7, True, "silent_corruption", "bytes of w13_weight"),
        (GLM_4_7, False, "load_fails", "Loading ends in a ValueError."),
    ],
)
def test_a_draft_of_which_nothing_is_stored(
    config: dict[str, object], quantized: bool, consequence: str, then: str
) -> None:
    entries, block = (BLOCKS, FP8_BLOCK) if quantized else (without(WHOLE, "layers.5"), None)
    report = found(entries, block, {**GLM_4_7, "model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"]}
                   | config, draft=True)  # fmt: skip
    (finding,) = drafted(report)
    assert (finding.rule, finding.severity, finding.consequence) == ("FSE130", "warning", consequence)
    assert ABSENT in finding.message
    assert then in finding.message


def test_a_draft_that_is_elsewhere_is_not_told() -> None:
    entries = {**without(WHOLE, "layers.5"), **expert("mtp.0.mlp.experts.0", plain)}
    entries |= {"model.layers.5.eh_proj.weight": ("BF16", (256, 512))}
    assert drafted(found(entries, None, draft=True)) == []


def test_without_a_draft_nothing_is_told_of_it() -> None:
    assert of(found(without(WHOLE, "layers.5"), None, draft=False), "FSE130") == []
