"""vLLM's quantization keys: what is stored, how it is scaled, and the text that its messages show for it."""

from dataclasses import dataclass

FP8 = "fp8"
"""Stands for the platform's own FP8 dtype: f8e4m3fnuz on gfx94x, f8e4m3fn elsewhere."""

TENSOR, TOKEN, CHANNEL = "per_tensor", "per_token", "per_channel"


def _block(rows: int, columns: int) -> str:
    return f"GroupShape(row={rows}, col={columns})"


@dataclass(frozen=True, kw_only=True)
class QuantKey:
    """Source: model_executor/layers/quantization/utils/quant_utils.py:170 at 0.33.0 (QuantKey, ScaleDesc)."""

    dtype: str
    scale: str
    static: bool
    group: str
    scale2: str | None = None
    symmetric: bool = True

    def text(self, *, fnuz: bool) -> str:
        """What vLLM prints for the key on a GPU whose FP8 is (not) the fnuz dialect."""

        def own(dtype: str) -> str:
            return ("f8e4m3fnuz" if fnuz else "f8e4m3fn") if dtype == FP8 else dtype

        when = "static" if self.static else "dynamic"
        second = f"scale2({self.scale2})," if self.scale2 else ""
        symmetry = "symmetric" if self.symmetric else "asymmetric"
        return f"QuantKey({own(self.dtype)},scale({own(self.scale)},{when},{self.group}),{second}{symmetry})"


def _key(dtype: str, scale: str, static: bool, group: str, **more: object) -> QuantKey:
    return QuantKey(dtype=dtype, scale=scale, static=static, group=group, **more)  # type: ignore[arg-type]


FP8_STATIC_TENSOR = _key(FP8, "f32", True, TENSOR)
FP8_DYNAMIC_TENSOR = _key(FP8, "f32", False, TENSOR)
FP8_STATIC_CHANNEL = _key(FP8, "f32", True, CHANNEL)
FP8_DYNAMIC_TOKEN = _key(FP8, "f32", False, TOKEN)
FP8_STATIC_BLOCK = _key(FP8, "f32", True, _block(128, 128))
FP8_STATIC_BLOCK_E8M0 = _key(FP8, "f8e8m0fnu", True, _block(128, 128))
FP8_DYNAMIC_128 = _key(FP8, "f32", False, _block(1, 128))
MXFP8_STATIC = _key(FP8, "u8", True, _block(1, 32))
MXFP8_DYNAMIC = _key(FP8, "u8", False, _block(1, 32))
MXFP6_E3M2_STATIC = _key("float6_e3m2f", "u8", True, _block(1, 32))
MXFP6_E3M2_DYNAMIC = _key("float6_e3m2f", "u8", False, _block(1, 32))
MXFP6_E2M3_STATIC = _key("float6_e2m3f", "u8", True, _block(1, 32))
MXFP6_E2M3_DYNAMIC = _key("float6_e2m3f", "u8", False, _block(1, 32))
MXFP4_STATIC = _key("u8", "u8", True, _block(1, 32))
MXFP4_DYNAMIC = _key("u8", "u8", False, _block(1, 32))
NVFP4_STATIC = _key("u8", FP8, True, _block(1, 16), scale2="f32,static,per_tensor")
NVFP4_DYNAMIC = _key("u8", FP8, False, _block(1, 16), scale2="f32,static,per_tensor")
NVFP4_DYNAMIC_TOKEN = _key("u8", FP8, False, _block(1, 16), scale2="f32,dynamic,per_token")
INT4_STATIC = _key("uint4b8", "f16", True, TOKEN)
INT4_STATIC_32 = _key("uint4b8", "f16", True, _block(1, 32))
INT4_STATIC_ASYMMETRIC = _key("uint4", "f16", True, TOKEN, symmetric=False)
INT4_STATIC_32_ASYMMETRIC = _key("uint4", "f16", True, _block(1, 32), symmetric=False)
INT4_W4A8_CHANNEL = _key("i8", "f32", True, CHANNEL)
INT8_STATIC_CHANNEL = _key("i8", "f32", True, CHANNEL)
INT8_STATIC_TENSOR = _key("i8", "f32", True, TENSOR)
INT8_STATIC_TENSOR_ASYMMETRIC = _key("i8", "f32", True, TENSOR, symmetric=False)
INT8_DYNAMIC_TOKEN = _key("i8", "f32", False, TOKEN)
INT8_DYNAMIC_TOKEN_ASYMMETRIC = _key("i8", "f32", False, TOKEN, symmetric=False)
INT8_DYNAMIC_TENSOR = _key("i8", "f32", False, TENSOR)
INT8_DYNAMIC_TENSOR_ASYMMETRIC = _key("i8", "f32", False, TENSOR, symmetric=False)
INT8_DYNAMIC_32 = _key("i8", "f32", False, _block(1, 32))
