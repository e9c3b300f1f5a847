"""The quantization keys that Quark's weight and activation schemes stand for, as vLLM reads them for routed experts.

Source: model_executor/layers/quantization/quark/quark.py:380-713 and quark_moe.py:167 at 0.33.0.
"""

from collections.abc import Mapping
from typing import Any

from fse_core.errors import InputError, ReleaseRaises
from fse_core.quantization import fields as field_sets
from fse_core.quantization import keys
from fse_core.quantization.keys import QuantKey
from fse_core.quantization.storage import FP8_BLOCK, FP8_CHANNEL, FP8_TENSOR, INT8, MXFP4, MXFP8, PLAIN, Storage
from fse_core.read.getters import Fields, shown

Keys = tuple[QuantKey, QuantKey | None]
"""The weight key and the activation key; None is a 16-bit activation."""

_MX_WEIGHT = {
    "fp4": keys.MXFP4_STATIC,
    "fp6_e3m2": keys.MXFP6_E3M2_STATIC,
    "fp6_e2m3": keys.MXFP6_E2M3_STATIC,
    "fp8_e4m3": keys.MXFP8_STATIC,
}
_MX_ACTIVATION = {
    "fp4": keys.MXFP4_DYNAMIC,
    "fp6_e3m2": keys.MXFP6_E3M2_DYNAMIC,
    "fp6_e2m3": keys.MXFP6_E2M3_DYNAMIC,
    "fp8_e4m3": keys.MXFP8_DYNAMIC,
}
_FP8, _INT8, _INT4 = "fp8_e4m3", "int8", ("int4", "uint4")


def _is(spec: Mapping[str, Any], **expected: object) -> bool:
    return all(spec.get(key) == value for key, value in expected.items())


def _fp8_w8a8(weight: Mapping[str, Any], activation: Mapping[str, Any]) -> Keys | None:
    if not (_is(weight, dtype=_FP8) and _is(activation, dtype=_FP8)) or weight.get("is_dynamic"):
        return None
    scheme = weight.get("qscheme")
    block = list(weight.get("block_size") or [])
    if scheme == "per_block" and block == [128, 128] and weight.get("symmetric") is True:
        alike = _is(activation, qscheme="per_group", group_size=128) and activation.get("symmetric") is True
        if not (activation.get("is_dynamic") and alike):
            return None
        e8m0 = _is(weight, scale_type="float8_e8m0fnu")
        return (keys.FP8_STATIC_BLOCK_E8M0 if e8m0 else keys.FP8_STATIC_BLOCK), keys.FP8_DYNAMIC_128
    if scheme not in ("per_tensor", "per_channel"):
        return None
    weight_key = keys.FP8_STATIC_CHANNEL if scheme == "per_channel" else keys.FP8_STATIC_TENSOR
    if activation.get("is_dynamic"):
        per_token = _is(activation, qscheme="per_channel")
        return weight_key, keys.FP8_DYNAMIC_TOKEN if per_token else keys.FP8_DYNAMIC_TENSOR
    return (weight_key, keys.FP8_STATIC_TENSOR) if _is(activation, qscheme="per_tensor") else None


def _int4_w4a16(weight: Mapping[str, Any], pack_method: object) -> Keys | None:
    if weight.get("dtype") not in _INT4 or pack_method not in ("order", "reorder"):
        return None
    for field in ("group_size", "symmetric"):
        if field not in weight:
            raise ReleaseRaises("ValueError", f"Quark W4A16 INT4/UINT4 configs must specify weight.{field}")
    group, symmetric = weight["group_size"], weight["symmetric"]
    if not isinstance(group, int) or group <= 0:
        raise ReleaseRaises("ValueError", f"Quark W4A16 weight.group_size must be a positive int, got {group!r}")
    if not isinstance(symmetric, bool):
        raise ReleaseRaises("ValueError", f"Quark W4A16 weight.symmetric must be a bool, got {symmetric!r}")
    if symmetric:
        return (keys.INT4_STATIC_32 if group == 32 else keys.INT4_STATIC), None
    return (keys.INT4_STATIC_32_ASYMMETRIC if group == 32 else keys.INT4_STATIC_ASYMMETRIC), None


def _mx_rows(weight: Mapping[str, Any]) -> int | None:
    """The weight rows that share a scale row, None where the weight is no OCP MX one (ocp_mx_utils.py:50)."""
    if not isinstance(weight.get("dtype"), str) or weight["dtype"] not in _MX_WEIGHT:
        return None
    if _is(weight, qscheme="per_group"):
        return 1 if _is(weight, group_size=32, scale_format="e8m0") else None
    block = list(weight.get("block_size") or [])
    two_dimensional = _is(weight, qscheme="per_block", dtype=_FP8, scale_type="float8_e8m0fnu")
    plain = weight.get("symmetric") is True and not weight.get("is_dynamic")
    return block[0] if two_dimensional and len(block) == 2 and block[1] == 32 and plain else None


def _ocp_mx(weight: Mapping[str, Any], activation: Mapping[str, Any] | None) -> Keys | None:
    if _mx_rows(weight) is None:
        return None
    weight_key = _MX_WEIGHT[weight["dtype"]]
    if activation is None:
        return weight_key, None
    if not activation.get("is_dynamic"):
        static = _is(activation, dtype=_FP8, qscheme="per_tensor") and activation.get("symmetric") is True
        return (weight_key, keys.FP8_STATIC_TENSOR) if static else None
    dtype = _activation_dtype(activation)
    if dtype == _FP8 and not _is(activation, qscheme="per_group", group_size=32):
        return weight_key, keys.FP8_DYNAMIC_TENSOR
    if dtype not in _MX_ACTIVATION:
        shown = dtype.replace("fp", "mxfp")
        known = "dict_keys(['mxfp4', 'mxfp6_e3m2', 'mxfp6_e2m3', 'mxfp8_e4m3'])"
        raise ReleaseRaises(
            "ValueError",
            f"Unsupported input_dtype={shown} in Quark's vLLM integration. Supported activation dtypes are {known}, "
            "or None for weight-only quantization.",
        )
    return weight_key, _MX_ACTIVATION[dtype]


def _activation_dtype(activation: Mapping[str, Any]) -> str:
    """The dtype of a dynamic activation, which vLLM reads without asking whether it is there."""
    if "dtype" not in activation:
        raise ReleaseRaises("KeyError", "'dtype'")
    if activation["dtype"] is None:
        raise ReleaseRaises("AttributeError", "'NoneType' object has no attribute 'replace'")
    dtype: str = activation["dtype"]
    return dtype


def _int8(weight: Mapping[str, Any], activation: Mapping[str, Any]) -> Keys | None:
    static = _is(activation, qscheme="per_tensor") and not activation.get("is_dynamic")
    dynamic = _is(activation, qscheme="per_channel") and activation.get("is_dynamic") is True
    if not (
        _is(weight, dtype=_INT8)
        and _is(activation, dtype=_INT8)
        and weight.get("qscheme") in ("per_tensor", "per_channel")
        and weight.get("symmetric") is True
        and ((static and not weight.get("is_dynamic")) or dynamic)
    ):
        return None
    per_channel = _is(weight, qscheme="per_channel")
    symmetric = activation.get("symmetric") is True
    if static:
        key = keys.INT8_STATIC_TENSOR if symmetric else keys.INT8_STATIC_TENSOR_ASYMMETRIC
    elif per_channel:
        key = keys.INT8_DYNAMIC_TOKEN if symmetric else keys.INT8_DYNAMIC_TOKEN_ASYMMETRIC
    else:
        key = keys.INT8_DYNAMIC_TENSOR if symmetric else keys.INT8_DYNAMIC_TENSOR_ASYMMETRIC
    return (keys.INT8_STATIC_CHANNEL if per_channel else keys.INT8_STATIC_TENSOR), key


def _two_level(weight: Any, activation: Any) -> Keys:
    """Schemes of two entries: FP8 over INT4 weights, and NVFP4."""
    pair = isinstance(weight, list) and len(weight) == 2
    single = activation[0] if isinstance(activation, list) and len(activation) == 1 else activation
    if pair and isinstance(single, dict):
        outer, inner = weight
        if (
            _is(outer, dtype=_FP8, qscheme="per_tensor")
            and _is(inner, dtype="int4", qscheme="per_channel", ch_axis=0)
            and inner.get("symmetric") is True
            and _is(single, dtype=_FP8)
            and not (outer.get("is_dynamic") or inner.get("is_dynamic"))
            and (single.get("is_dynamic") or _is(single, qscheme="per_tensor"))
        ):
            key = keys.FP8_DYNAMIC_TOKEN if single.get("is_dynamic") else keys.FP8_STATIC_TENSOR
            return keys.INT4_W4A8_CHANNEL, key
    if pair and isinstance(activation, list) and len(activation) == 2:
        groups = all(_is(s[0], dtype="fp4", qscheme="per_group", group_size=16) for s in (weight, activation))
        tensors = all(
            _is(s[1], dtype=_FP8, qscheme="per_tensor") and not s[1].get("is_dynamic") for s in (weight, activation)
        )
        if groups and tensors and not weight[0].get("is_dynamic") and activation[0].get("is_dynamic"):
            return keys.NVFP4_STATIC, keys.NVFP4_DYNAMIC
    raise ReleaseRaises("RuntimeError", "Unsupported FusedMoe scheme")


def check_config(config: Fields) -> None:
    """Refuse a scheme that cannot be read: each side is null, an object, or a list of objects."""
    for side in ("weight", "input_tensors"):
        value = config.get(side)
        for place, spec in enumerate(value if isinstance(value, list) else [value]):
            path = f"{config.at(side)}[{place}]" if isinstance(value, list) else config.at(side)
            if spec is None and not isinstance(value, list):
                continue
            if not isinstance(spec, Mapping):
                raise InputError(path, f"expected an object, got {shown(spec)}")
            fields = Fields(spec, path)
            for key in ("dtype", "qscheme", "scale_format", "scale_type"):
                fields.optional_string(key)
            fields.integers("block_size", [])


def _unwrapped(spec: Any) -> Any:
    """The one entry of a list, None for an empty list, all else as it is."""
    if isinstance(spec, list):
        return spec[0] if spec else None
    return spec


def routed_keys(config: Mapping[str, Any], pack_method: object, name: str) -> Keys:
    """The keys of routed experts `name` that `config` describes. ReleaseRaises where vLLM knows no such scheme."""
    if config.get("output_tensors") or config.get("bias"):
        raise ReleaseRaises(
            "NotImplementedError",
            "Currently, Quark models with output_tensors and bias quantized are not supported",
        )
    weight, activation = config.get("weight"), config.get("input_tensors")
    if any(isinstance(spec, list) and len(spec) > 1 for spec in (weight, activation)):
        return _two_level(weight, activation)
    weight, activation = _unwrapped(weight), _unwrapped(activation)
    found: Keys | None = None
    if isinstance(weight, dict):
        if isinstance(activation, dict):
            found = _fp8_w8a8(weight, activation)
        elif activation is None:
            found = _int4_w4a16(weight, pack_method)
        found = found or _ocp_mx(weight, activation)
        if found is not None and found[0] == keys.MXFP8_STATIC and _mx_rows(weight) != 1:
            raise ReleaseRaises(
                "NotImplementedError",
                "Quark MXFP8 MoE experts support only the 1-D per_group (group_size=32, e8m0) weight spelling, "
                f"got {weight} for {name}",
            )
        if found is None and isinstance(activation, dict):
            found = _int8(weight, activation)
    if found is None:
        raise ReleaseRaises("RuntimeError", "Unsupported FusedMoe scheme")
    return found


def storage(config: Mapping[str, Any]) -> Storage | None:
    """How the weights of a module with this scheme are stored, None where it is none of the common ones."""
    weight = config.get("weight")
    if not weight:
        return PLAIN
    if not isinstance(weight, Mapping):  # several levels of scales
        return None
    if weight.get("dtype") == "fp4":
        return MXFP4
    if weight.get("dtype") == _INT8:
        return INT8
    by_scheme = {"per_tensor": FP8_TENSOR, "per_channel": FP8_CHANNEL, "per_block": FP8_BLOCK, "per_group": MXFP8}
    return by_scheme.get(str(weight.get("qscheme"))) if weight.get("dtype") == _FP8 else None


def fields(config: Mapping[str, Any]) -> field_sets.Fields | None:
    """The parameters of a module with this scheme, None where it is none of the common ones.

    Source: model_executor/layers/quantization/quark/quark_moe.py:697,1715,2040 and quark/schemes/ at 0.33.0.
    """
    stored, activation = storage(config), _unwrapped(config.get("input_tensors"))
    static = field_sets.is_static(activation)
    if stored == FP8_BLOCK:
        return field_sets.fp8_blocks("weight_scale", (128, 128))
    made = {
        PLAIN: field_sets.PLAIN,
        FP8_TENSOR: field_sets.fp8_tensor(static=static),
        FP8_CHANNEL: field_sets.fp8_rows(column=False, static=static),
        MXFP4: field_sets.mxfp4(static=static),
        MXFP8: field_sets.mxfp8(),
    }
    return None if stored is None else made.get(stored)
