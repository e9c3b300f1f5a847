"""AMD Quark's export of MXFP4: the observer's scale, its C++ kernel for the elements, and the packing of both."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import torch

from tests.quantize import exhaustive
from tests.quantize.peers.record import Answer
from tests.quantize.peers.stand_in import stand_in

# What the package imports and the export of one tensor does not need.
UNNEEDED = (
    "transformers", "onnx", "onnxscript", "onnxslim", "pandas", "evaluate", "plotly", "sentencepiece", "datasets",
    "accelerate", "safetensors",
)  # fmt: skip
# Packages whose own imports at the top are left out, their modules below not.
BARE = ("quark.torch", "quark.torch.quantization", "quark.torch.utils", "quark.torch.export")
# Below, and for a group of zeros, its scale byte is 1. At the end of the range its scales are one lower.
FIRST, LAST = 0x180, 0x7F60


def answers(source: Path | None, version: str | None) -> Iterator[Answer]:
    """MXFP4 with +0 for what rounds to zero."""
    if source is None:
        raise SystemExit("--source: where is amd-quark unpacked?")
    sys.path.insert(0, str(source))
    stand_in(*UNNEEDED)
    export = _export(source)
    weight = exhaustive.e2m1_blocks()[FIRST:LAST].contiguous()
    scale = export["even_round"](weight.view(len(weight), -1, 32).abs().amax(-1), "fp4")
    codes = export["kernel"].scaled_real_quantize("fp4", weight, scale, None, -1, 32, -6.0, 6.0, 8, "per_group")
    yield Answer(
        name="quark-mxfp4",
        peer="amd-quark",
        version=version or _version(source),
        call="even_round, kernel.scaled_real_quantize, Pack_fp4, to_e8m0_uint8",
        how=f"on a CPU, torch {torch.__version__}",
        format="mxfp4",
        options={"zero": "positive"},
        first=FIRST,
        last=LAST,
        payload=export["Pack_fp4"](None, "fp4").pack(codes, False),
        scale=export["to_e8m0_uint8"](scale),
    )


def _export(source: Path) -> dict[str, Any]:
    quark: Any = importlib.import_module("quark")
    for name in BARE:
        module = ModuleType(name)
        module.__path__ = [str(source / name.replace(".", "/"))]
        sys.modules[name] = module
    utils = sys.modules["quark.torch.utils"]
    vars(utils).update(
        QUARK_TORCH_COMPILE_MODE=None, QUARK_MXFP4_IMPL="triton", __getattr__=lambda name: MagicMock(name=name)
    )
    quark.torch = sys.modules["quark.torch"]
    wanted = {
        "even_round": "quark.torch.quantization.utils",
        "to_e8m0_uint8": "quark.torch.utils.numerics",
        "Pack_fp4": "quark.torch.utils.pack",
    }
    found = {name: getattr(importlib.import_module(module), name) for name, module in wanted.items()}
    return {**found, "kernel": importlib.import_module("quark.torch.kernel")}


def _version(source: Path) -> str:
    names = [re.match(r"amd_quark-(.+)\.dist-info", path.name) for path in source.iterdir()]
    return next(name.group(1) for name in names if name)
