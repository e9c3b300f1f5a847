"""Mxfp4Config: MXFP4 experts beside 16-bit linear modules."""

from dataclasses import dataclass
from typing import ClassVar

from fse_core.quantization.base import Quantization


@dataclass(frozen=True, kw_only=True)
class Mxfp4(Quantization):
    """Source: model_executor/layers/quantization/mxfp4.py:50 at 0.33.0. It has no branch in the gate."""

    class_name: ClassVar[str] = "Mxfp4Config"


CLASS = Mxfp4
