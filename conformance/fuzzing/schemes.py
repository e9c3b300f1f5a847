"""Quark's number formats: weights and activations, alone and in pairs that belong together."""

from typing import Any

from conformance.fuzzing.draw import Draw

Spec = dict[str, Any]
Scheme = dict[str, Any]


def _spec(dtype: str, qscheme: str, **more: Any) -> Spec:
    return {"dtype": dtype, "qscheme": qscheme, "is_dynamic": False, **more}


def _group(dtype: str, **more: Any) -> Spec:
    return _spec(dtype, "per_group", **{"group_size": 32, "scale_format": "e8m0", **more})


MXFP4 = _group("fp4")
TENSOR8 = _spec("fp8_e4m3", "per_tensor", symmetric=True)
CHANNEL8 = _spec("fp8_e4m3", "per_channel", symmetric=True, ch_axis=0)
BLOCK8 = _spec("fp8_e4m3", "per_block", block_size=[128, 128], symmetric=True)
TOKEN8 = {**CHANNEL8, "is_dynamic": True}
GROUP8 = _spec("fp8_e4m3", "per_group", group_size=128, symmetric=True, is_dynamic=True)


def _dynamic(spec: Spec) -> Spec:
    return {**spec, "is_dynamic": True}


def _int4(dtype: str, group: Any, symmetric: Any) -> Spec:
    return _spec(dtype, "per_group", group_size=group, symmetric=symmetric)


def _int8(qscheme: str, **more: Any) -> Spec:
    return _spec("int8", qscheme, **{"symmetric": True, **more})


NVFP4 = [_spec("fp4", "per_group", group_size=16), TENSOR8]
NVFP4_INPUT = [_dynamic(_spec("fp4", "per_group", group_size=16)), TENSOR8]
INT4_FP8 = [TENSOR8, _spec("int4", "per_channel", ch_axis=0, symmetric=True)]

PAIRS: dict[str, tuple[Any, Any]] = {
    "mxfp4": (MXFP4, _dynamic(MXFP4)),
    "mxfp4 weights": (MXFP4, None),
    "mxfp4, fp8 group": (MXFP4, _dynamic(_group("fp8_e4m3"))),
    "mxfp4, fp8 tensor": (MXFP4, TENSOR8),
    "mxfp4, fp8 dynamic tensor": (MXFP4, _dynamic(TENSOR8)),
    "mxfp4, mxfp6": (MXFP4, _dynamic(_group("fp6_e3m2"))),
    "mxfp4, unknown": (MXFP4, _dynamic(_group("fp5"))),
    "mxfp6": (_group("fp6_e3m2"), _dynamic(_group("fp6_e3m2"))),
    "mxfp6 e2m3": (_group("fp6_e2m3"), _dynamic(_group("fp6_e2m3"))),
    "mxfp8": (_group("fp8_e4m3"), _dynamic(_group("fp8_e4m3"))),
    "mxfp8 weights": (_group("fp8_e4m3"), None),
    "mxfp8 blocks": ({**BLOCK8, "block_size": [1, 32], "scale_type": "float8_e8m0fnu"}, None),
    "mxfp8 tall blocks": ({**BLOCK8, "block_size": [32, 32], "scale_type": "float8_e8m0fnu"}, None),
    "fp8 tensor": (TENSOR8, TENSOR8),
    "fp8 dynamic tensor": (TENSOR8, _dynamic(TENSOR8)),
    "fp8 channel": (CHANNEL8, TOKEN8),
    "fp8 channel, static": (CHANNEL8, TENSOR8),
    "fp8 block": (BLOCK8, GROUP8),
    "fp8 block, e8m0": ({**BLOCK8, "scale_type": "float8_e8m0fnu"}, GROUP8),
    "int4": (_int4("int4", 128, True), None),
    "int4 of 32": (_int4("int4", 32, True), None),
    "uint4": (_int4("uint4", 128, False), None),
    "uint4 of 32": (_int4("uint4", 32, False), None),
    "int4 of text": (_int4("int4", "32", True), None),
    "int4, symmetry null": (_int4("int4", 32, None), None),
    "int4, no group": (_spec("int4", "per_group", symmetric=True), None),
    "int8": (_int8("per_channel"), _int8("per_channel", is_dynamic=True)),
    "int8 tensor": (_int8("per_tensor"), _int8("per_tensor")),
    "int8 tensor, asymmetric": (_int8("per_tensor"), _int8("per_tensor", symmetric=False)),
    "int8 channel, asymmetric": (_int8("per_channel"), _int8("per_channel", is_dynamic=True, symmetric=False)),
    "nvfp4": (NVFP4, NVFP4_INPUT),
    "int4 in fp8": (INT4_FP8, TOKEN8),
    "int4 in fp8, static": (INT4_FP8, TENSOR8),
    "unknown": ({"dtype": "int2"}, None),
    "none": (None, None),
}  # fmt: skip

DETAILS: tuple[Spec, ...] = (
    {"group_size": 64},
    {"symmetric": False},
    {"is_dynamic": True},
    {"is_dynamic": None},
    {"observer": "x"},
)

COMMON: dict[str, float] = {"mxfp4": 20.0, "fp8 tensor": 4.0, "mxfp4 weights": 6.0}


def scheme(draw: Draw) -> Scheme:
    """A scheme, sometimes with a detail that does not fit."""
    weights = {
        name: 8.0 if name == "mxfp4" else 3.0 if name in ("fp8 tensor", "mxfp4 weights") else 1.0 for name in PAIRS
    }
    weight, activation = PAIRS[draw.weighted(weights)]
    made: Scheme = {"weight": weight, "input_tensors": activation, "output_tensors": None, "bias": None}
    if draw.chance(0.18):
        _spoil(draw, made)
    return made


def common(draw: Draw) -> Scheme:
    """One of the schemes that checkpoints have, seldom one that the release does not know."""
    if draw.chance(0.16):
        return {"weight": {"dtype": "int2", "qscheme": "per_channel"}, "input_tensors": None}
    weight, activation = PAIRS[draw.weighted(COMMON)]
    return {"weight": weight, "input_tensors": activation, "output_tensors": None, "bias": None}


def _spoil(draw: Draw, made: Scheme) -> None:
    """Change one detail of the weight or the activation."""
    key = draw.one(("weight", "input_tensors"))
    detail: Spec = draw.one(DETAILS)
    if isinstance(made[key], dict):
        made[key] = {**made[key], **detail}


def respelled(draw: Draw, made: Scheme) -> Scheme:
    """The same numbers, written otherwise: what a textual comparison takes for different."""
    weight = made["weight"]
    if isinstance(weight, dict):
        weight = draw.one(
            ({**weight, "ch_axis": None}, {k: v for k, v in weight.items() if k != "symmetric"}, [weight])
        )
    return {**made, "weight": weight}
