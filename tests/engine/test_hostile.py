"""Whatever a config holds, the answer is a report: never a traceback, and never a long wait."""

import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fse_core import Target, check, releases
from fse_core.families import families
from fse_core.output.json import report_to_dict
from fse_core.quantization import classes
from fse_core.read.source import model_from_dict
from tests.models import DEEPSEEK, FP8_BLOCK, MXFP8, QUARK_MXFP4

KEYS = [
    *DEEPSEEK,
    *(
        "text_config",
        "language_config",
        "quantization_config",
        "compression_config",
        "mlp_layer_types",
        "moe_layer_freq",
    ),
    *("num_experts", "shared_expert_intermediate_size", "decoder_sparse_step", "mlp_only_layers", "layer_types"),
    *("expert_dtype", "num_local_experts", "hybrid_override_pattern", "moe_layers_enum", "interleave_moe_layer_step"),
]
BLOCK_KEYS = sorted(
    {*FP8_BLOCK, *QUARK_MXFP4, *MXFP8, "ignored_layers", "modules_to_not_convert", "quantization", "producer", "bits"}
)
LEAF = (
    st.none()
    | st.booleans()
    | st.integers(-3, 70)
    | st.sampled_from([2**31, 2**70, 0.5, float("inf")])
    | st.sampled_from(["", "fp8", "quark", "modelopt", "mxfp8", "sparse", "dense", "*", "re:.*experts.*", "M-E*"])
)
VALUE = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(BLOCK_KEYS + KEYS), inner, max_size=4),
    max_leaves=12,
)
SOME_KEYS = st.dictionaries(st.sampled_from(KEYS), VALUE, max_size=6)
BLOCK = st.one_of(
    st.builds(
        lambda base, odd: {**base, **odd},
        st.sampled_from([FP8_BLOCK, QUARK_MXFP4, MXFP8]),
        st.dictionaries(st.sampled_from(BLOCK_KEYS), VALUE, max_size=3),
    ),
    VALUE,
)
SCHEME = st.dictionaries(
    st.sampled_from(
        [
            "dtype",
            "qscheme",
            "group_size",
            "block_size",
            "symmetric",
            "is_dynamic",
            "scale_format",
            "scale_type",
            "ch_axis",
        ]
    ),
    st.sampled_from(["fp4", "fp8_e4m3", "int4", "int8", "per_group", "per_block", "per_tensor", 32, 128, "e8m0", True])
    | VALUE,
    max_size=7,
)
SIDE = SCHEME | st.lists(SCHEME, max_size=3) | st.none() | VALUE
QUARK_CONFIG = st.fixed_dictionaries({"weight": SIDE, "input_tensors": SIDE})
OVERLAY = st.dictionaries(st.sampled_from(["targets", "linear", "moe", "ignore", "x"]), VALUE, max_size=3)


def answered(config: dict[str, Any], **target: Any) -> None:
    start = time.monotonic()
    report = check(model_from_dict(config), Target(**target))
    assert report_to_dict(report)["verdict"] in ("fuses", "separate", "breaks", "fails", "not_applicable", "undecided")
    assert (report.verdict == "undecided") == (report.undecided_reason is not None)
    assert time.monotonic() - start < 10


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(sorted(families())), SOME_KEYS, st.booleans())
def test_any_value_for_any_architecture(architecture: str, config: dict[str, Any], nested: bool) -> None:
    whole = {**DEEPSEEK, **config, "architectures": [architecture]}
    answered({"architectures": [architecture], "text_config": whole} if nested else whole)


@settings(max_examples=400, deadline=None)
@given(BLOCK, OVERLAY | st.none())
def test_any_block_and_overlay(block: Any, overlay: dict[str, Any] | None) -> None:
    answered({**DEEPSEEK, "quantization_config": block}, overlay=overlay)


@settings(max_examples=400, deadline=None)
@given(QUARK_CONFIG, st.dictionaries(st.sampled_from(["*experts*", "*down_proj", "*", "x"]), QUARK_CONFIG | VALUE))
def test_any_scheme(whole: dict[str, Any], exceptions: dict[str, Any]) -> None:
    block = {**QUARK_MXFP4, "global_quant_config": whole, "layer_quant_config": exceptions}
    answered({**DEEPSEEK, "quantization_config": block}, overlay={"targets": {"*shared_experts*": "mxfp4"}})


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text(max_size=8), VALUE, max_size=5), VALUE)
def test_any_object(config: dict[str, Any], architectures: Any) -> None:
    answered({**config, "architectures": architectures})


def test_every_class_reads_an_empty_block() -> None:
    release = releases.load("latest")
    for method in release.methods:
        report = check(model_from_dict({**DEEPSEEK, "quantization_config": {"quant_method": method}}), Target())
        assert report.verdict in ("fuses", "separate", "fails"), method
    assert {reader.class_name for reader in classes().values()} <= set(release.methods.values())
