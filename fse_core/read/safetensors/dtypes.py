"""The number types of the format.

Source: safetensors/src/tensor.rs at 0.8.0, whose reader knows these and refuses every other one.
"""

from collections.abc import Mapping
from typing import Final

BITS: Final[Mapping[str, int]] = {
    "F4": 4,
    "F6_E2M3": 6, "F6_E3M2": 6,
    "BOOL": 8, "U8": 8, "I8": 8,
    "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
    "U16": 16, "I16": 16, "F16": 16, "BF16": 16,
    "U32": 32, "I32": 32, "F32": 32,
    "U64": 64, "I64": 64, "F64": 64, "C64": 64,
}  # fmt: skip
"""Bits a number. Types of less than eight are packed without a gap, and a tensor of them fills whole bytes."""
