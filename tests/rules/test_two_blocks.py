"""FSE129: hf_quant_config.json beside the block of config.json."""

from typing import Any

import pytest

from fse_core import Report, Target, check
from fse_core.read.source import model_from_dict
from tests.models import DEEPSEEK
from tests.rules.cases import NVFP4, of, only

RULE = "FSE129"


def both(block: dict[str, Any] | None, **side: Any) -> Report:
    config = {**DEEPSEEK, **({} if block is None else {"quantization_config": block})}
    written = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "group_size": 16, **side}}
    return check(model_from_dict(config, written), Target())


def test_another_algorithm() -> None:
    finding = only(both(NVFP4, quant_algo="FP8", exclude_modules=["lm_head"]), RULE)
    assert (finding.severity, finding.confidence, finding.consequence) == ("warning", "certain", "none")
    assert "quant_algo (NVFP4 and FP8)" in finding.message
    assert finding.evidence == ("quantization_config", "hf_quant_config.json")


def test_another_list() -> None:
    finding = only(both(NVFP4, exclude_modules=["lm_head", "*self_attn*"]), RULE)
    assert "excluded modules (1 of the second alone; *self_attn*)" in finding.message


@pytest.mark.parametrize("block", [NVFP4, None])
def test_the_same_in_both_dialects_or_the_side_file_alone(block: dict[str, Any] | None) -> None:
    assert of(both(block, exclude_modules=["lm_head"]), RULE) == []


def test_no_side_file() -> None:
    assert of(check(model_from_dict({**DEEPSEEK, "quantization_config": NVFP4}), Target()), RULE) == []
