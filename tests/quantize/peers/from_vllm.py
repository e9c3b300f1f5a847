"""vLLM's own quantizers: the Triton kernel behind `mxfp4_quantize`, and the torch code behind `mxfp8_e4m3_quantize`."""

import re
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import MagicMock

import torch

from tests.quantize import exhaustive
from tests.quantize.peers import interpreter
from tests.quantize.peers.record import Answer
from tests.quantize.peers.stand_in import load, stand_in

UTILS = "vllm/model_executor/layers/quantization/utils"
# Below, the kernel's arithmetic on tiny groups is of its own kind. MXFP8: the scale's clamp comes in below 2^-118.
MXFP4_ROWS, MXFP8_ROWS = (0x180, 0x7F80), (0x480, 0x7F80)
STEP = 4096


def answers(source: Path | None, version: str | None) -> Iterator[Answer]:
    """Both formats, from the files of an unpacked release."""
    if source is None:
        raise SystemExit("--source: where is vLLM unpacked?")
    named = re.search(r"version = '([^']+)'", (source / "vllm/_version.py").read_text())
    found = version or (named.group(1) if named else "unknown")
    triton, tl = interpreter.start()
    stand_in("vllm", vllm__triton_utils={"triton": triton, "tl": tl})
    # The file asks there for operations that it registered itself.
    vars(torch.ops)["vllm"] = MagicMock()
    first, last = MXFP4_ROWS
    blocks = exhaustive.e2m1_blocks()[first:last]
    downcast = load(source / UTILS / "mxfp4_utils.py").downcast_to_mxfp
    parts = [downcast(part.contiguous(), axis=-1)[:2] for part in torch.split(blocks, STEP)]
    yield Answer(
        name="vllm-mxfp4",
        peer="vllm",
        version=found,
        call="model_executor.layers.quantization.utils.mxfp4_utils.downcast_to_mxfp",
        how=f"in the interpreter of Triton {triton.__version__}, its bfloat16 widened by bits",
        format="mxfp4",
        options={},
        first=first,
        last=last,
        payload=torch.cat([payload for payload, _ in parts]),
        scale=torch.cat([scale for _, scale in parts]),
    )
    first, last = MXFP8_ROWS
    payload, scale = load(source / UTILS / "mxfp8_utils.py")._mxfp8_e4m3_quantize_torch(
        exhaustive.e4m3_blocks()[first:last].contiguous()
    )
    yield Answer(
        name="vllm-mxfp8",
        peer="vllm",
        version=found,
        call="model_executor.layers.quantization.utils.mxfp8_utils._mxfp8_e4m3_quantize_torch",
        how=f"on a CPU, torch {torch.__version__}",
        format="mxfp8",
        options={},
        first=first,
        last=last,
        payload=payload,
        scale=scale,
    )
