"""The parameters that each class makes for routed experts and for a shared expert that is a module of its own."""

from typing import Any

import pytest

from fse_core import releases
from fse_core.names import GATE_UP
from fse_core.quantization.base import Question
from fse_core.quantization.fields import Fields
from fse_core.quantization.gate import Gate
from fse_core.read.source import model_from_dict
from fse_core.target import Target
from tests.models import DEEPSEEK, EXPERTS, FP8_BLOCK, FP8_TENSOR, MXFP8, QUARK_MXFP4, SHARED
from tests.rules.cases import AWQ, FP8_BY_ROW, FP8_ROWS, INT4, NVFP4, compressed, shared

PLAIN = [("weight", "weight", "BF16")]
BYTES = ("weight", "weight", "F8_E4M3")


def made(block: dict[str, Any], name: str) -> Fields | None:
    release = releases.load("0.33.0")
    model = model_from_dict({**DEEPSEEK, "quantization_config": block})
    quantization = Gate.of(model, Target(), release).quantization
    assert quantization is not None
    question = Question(
        model_class="DeepseekV3ForCausalLM",
        experts=EXPERTS,
        shared=SHARED,
        packed=GATE_UP,
        model=model,
        release=release,
        gfx="gfx950",
    )
    return quantization.fields(name, question)


def brief(fields: Fields | None) -> list[tuple[str, str, str]]:
    assert fields is not None
    return [(field.leaf, field.kind, field.dtype) for field in fields]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (FP8_BLOCK, [BYTES, ("weight_scale_inv", "grid", "F32")]),
        ({**FP8_BLOCK, "weight_block_size": None}, [BYTES, ("weight_scale", "one", "F32")]),
        (
            {"quant_method": "fp8", "activation_scheme": "static"},
            [BYTES, ("weight_scale", "one", "F32"), ("input_scale", "both", "F32")],
        ),
        (QUARK_MXFP4, [("weight", "weight", "U8"), ("weight_scale", "grid", "U8")]),
        (
            {**QUARK_MXFP4, "global_quant_config": FP8_TENSOR},
            [BYTES, ("weight_scale", "one", "F32"), ("input_scale", "both", "F32")],
        ),
        ({**QUARK_MXFP4, "global_quant_config": FP8_ROWS}, [BYTES, ("weight_scale", "row", "F32")]),
        (MXFP8, [BYTES, ("weight_scale", "grid", "U8")]),
        (compressed(FP8_BY_ROW, "float-quantized"), [BYTES, ("weight_scale", "column", "F32")]),
    ],
)
def test_routed_experts(block: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    assert brief(made(block, EXPERTS)) == expected


def test_nvfp4_has_scales_of_three_kinds() -> None:
    assert [leaf for leaf, _, _ in brief(made(NVFP4, EXPERTS))] == [
        "weight", "weight_scale", "weight_scale_2", "input_scale",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("block", "name", "plain"),
    [
        ({**FP8_BLOCK, "ignored_layers": shared(3)}, f"{SHARED}.gate_up_proj", True),
        ({**FP8_BLOCK, "ignored_layers": shared(3)}, EXPERTS, False),
        ({**FP8_BLOCK, "ignored_layers": [SHARED]}, f"{SHARED}.down_proj", False),
        ({**QUARK_MXFP4, "exclude": ["re:.*shared_experts.*"]}, f"{SHARED}.down_proj", True),
        ({**QUARK_MXFP4, "exclude": ["*shared_experts*"]}, f"{SHARED}.down_proj", False),
        ({**QUARK_MXFP4, "exclude": [EXPERTS]}, EXPERTS, True),
        ({**MXFP8, "ignore": ["*shared_experts*"]}, f"{SHARED}.gate_up_proj", True),
        (compressed(FP8_BY_ROW, "float-quantized", "re:.*shared_experts.*"), f"{SHARED}.down_proj", True),
    ],
)
def test_what_the_release_takes_for_left_out(block: dict[str, Any], name: str, plain: bool) -> None:
    assert (brief(made(block, name)) == PLAIN) is plain


def test_an_exception_by_name_has_parameters_of_its_own() -> None:
    exceptions = {name: {**FP8_TENSOR, "input_tensors": None} for name in shared(3)}
    block = {**QUARK_MXFP4, "layer_quant_config": exceptions}
    assert brief(made(block, f"{SHARED}.gate_up_proj"))[1:] == [("weight_scale", "one", "F32")]
    assert brief(made(block, EXPERTS))[0] == ("weight", "weight", "U8")


@pytest.mark.parametrize("block", [AWQ, compressed(INT4, "pack-quantized"), {**FP8_BLOCK, "store_dtype": "bfloat16"}])
def test_what_is_not_known(block: dict[str, Any]) -> None:
    assert made(block, EXPERTS) is None
