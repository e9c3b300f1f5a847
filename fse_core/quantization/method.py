"""Which quantization class reads a checkpoint's block.

Source: config/model.py:1385 (_verify_quantization) and transformers_utils/model_arch_config_convertor.py:241 at 0.33.0.
"""

from fse_core.errors import ReleaseRaises
from fse_core.quantization.base import refuse
from fse_core.quantization.deepseek_v4_fp8 import quark_stores_mxfp4
from fse_core.read.getters import Fields
from fse_core.read.model import Model, QuantizationBlock
from fse_core.releases.release import Release

_LEGACY_MODELOPT = {
    "FP8": "modelopt",
    "FP8_PER_CHANNEL_PER_TOKEN": "modelopt",
    "FP8_PB_WO": "modelopt",
    "NVFP4": "modelopt_fp4",
    "MIXED_PRECISION": "modelopt_mixed",
}
_DEEPSEEK_V4 = ("deepseek_v4", "deepseek_v4_text", "deepseek_v41", "deepseek_v41_text")
_MXFP8 = "modelopt_mxfp8"
_NO_OVERRIDE = (
    "Quantization method mxfp8 is an override but is has not been added to the `overrides` list above. "
    "This is necessary to ensure that the overrides are checked in order of preference."
)
_RENAMED = {"gptq": "auto_gptq", "awq": "auto_awq", "auto-round": "inc"}


def _stated(block: QuantizationBlock, release: Release) -> str:
    """The block's own quant_method; that of a legacy ModelOpt export is told by its algorithm."""
    fields = block.fields
    if not block.compression:
        producer = fields.object("producer", {}).get("name")
        nested = fields.get("quantization")
        marked = release.has("modelopt_known_by_its_own_config")
        legacy = marked and isinstance(nested, dict) and "modelopt_quant_config" in nested
        algorithm = nested.get("quant_algo") if isinstance(nested, dict) else None
        if (producer == "modelopt" or legacy) and algorithm is not None:
            method = _LEGACY_MODELOPT.get(str(algorithm).upper())
            if method is None or (method == "modelopt_mixed" and not release.has("modelopt_legacy_mixed")):
                raise refuse(f"Unknown ModelOpt quant algo: {algorithm}", by="ModelConfig")
            return method
    if "quant_method" in fields and fields.get("quant_method") is None:
        raise ReleaseRaises("AttributeError", "'NoneType' object has no attribute 'lower'")
    return fields.string("quant_method", "").lower().replace("compressed_tensors", "compressed-tensors")


def _modelopt_algorithm(fields: Fields) -> str | None:
    if "quantization" not in fields:
        return str(fields.raw.get("quant_algo", "")).upper()
    nested = fields.get("quantization")
    return str(nested.get("quant_algo", "")).upper() if isinstance(nested, dict) else None


def _modelopt_method(algorithm: str) -> str | None:
    """The ModelOpt class by algorithm; the first that claims it wins."""
    if algorithm == "FP8":
        return "modelopt"
    if "FP4" in algorithm:
        return "modelopt_fp4"
    if "MXFP8" in algorithm:
        return "modelopt_mxfp8"
    return "modelopt_mixed" if algorithm == "MIXED_PRECISION" else None


def _overridden(stated: str, fields: Fields, model: Model, release: Release) -> str:
    renamed = _RENAMED.get(stated)
    if renamed is not None and renamed in release.methods:
        return renamed
    if stated.startswith("modelopt"):
        algorithm = _modelopt_algorithm(fields)
        if release.has("modelopt_mxfp8_refused") and algorithm is not None and _modelopt_method(algorithm) == _MXFP8:
            raise refuse(_NO_OVERRIDE, by="ModelConfig")
        return (_modelopt_method(algorithm) if algorithm is not None else None) or stated
    if stated == "mxfp4" and model.model_type == "gpt_oss":
        return "gpt_oss_mxfp4"
    if stated == "fp8" and model.model_type in _DEEPSEEK_V4:
        return "deepseek_v4_fp8"
    read_as_fp8 = release.has("quark_deepseek_v4_read_as_fp8") and model.model_type in _DEEPSEEK_V4
    if stated == "quark" and read_as_fp8 and quark_stores_mxfp4(fields):
        return "deepseek_v4_fp8"
    return stated


def method_of(block: QuantizationBlock, model: Model, release: Release) -> str | None:
    """The release's name for the block's method, None where it takes the model as unquantized.

    ReleaseRaises where the release knows no such method, or ROCm does not take it.
    """
    method = _overridden(_stated(block, release), block.fields, model, release)
    if method == "":
        return None
    if method not in release.methods:
        known = list(release.methods)
        raise refuse(f"Unknown quantization method: {method}. Must be one of {known}.", by="ModelConfig")
    if method not in release.supported:
        raise refuse(f"{method} quantization is currently not supported in rocm.", by="ModelConfig")
    if method in release.deprecated:
        raise ReleaseRaises(
            "ValidationError",
            "1 validation error for ModelConfig\n  Value error, ('The quantization method %s is deprecated and will be "
            "removed in future versions of vLLM. To bypass, set `--allow-deprecated-quantization`.', " + f"{method!r})",
        )
    return method
