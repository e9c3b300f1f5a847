"""aiter's Triton kernel, which vLLM calls on ROCm; and whether this project's probe would trust it."""

from collections.abc import Iterator
from pathlib import Path

import torch

from fse_core.quantize import mxfp4_aiter
from tests.quantize import exhaustive
from tests.quantize.peers import interpreter
from tests.quantize.peers.record import Answer
from tests.quantize.peers.stand_in import load, stand_in

# Where releases and checkouts have the two files.
FOLDERS = ("quant/quant.py", "quant.py")
ROOT = Path("aiter/ops/triton")
# Below, the interpreter's exp2 of 127 is not exact.
FIRST, LAST, STEP = 0x180, 0x7F80, 4096


def answers(source: Path | None, version: str | None) -> Iterator[Answer]:
    """MXFP4, by the kernel for GPUs that have no instruction for it."""
    if source is None or version is None:
        raise SystemExit("--source, --version: where are aiter's files, and of which commit or release?")
    triton, _ = interpreter.start()
    place = next(folder for folder in FOLDERS if (source / ROOT / folder).exists())
    stand_in("aiter")
    kernels = interpreter.load_kernels(source / ROOT / "_triton_kernels" / place)
    quantizers = load(source / ROOT / place)
    # What was imported there were stand-ins.
    vars(quantizers).update({name: kernel for name, kernel in vars(kernels).items() if name in vars(quantizers)})
    if hasattr(quantizers, "arch_info"):
        quantizers.arch_info.get_arch = lambda: "gfx942"
    quantize = quantizers.dynamic_mxfp4_quant
    print("trusted by the probe" if mxfp4_aiter.answers(quantize, "cpu") else "refused by the probe")
    blocks = exhaustive.e2m1_blocks()[FIRST:LAST]
    parts = [quantize(part.contiguous()) for part in torch.split(blocks, STEP)]
    yield Answer(
        name="aiter-mxfp4",
        peer="aiter",
        version=version,
        call="ops.triton.quant.dynamic_mxfp4_quant, its kernel for gfx942",
        how=f"in the interpreter of Triton {triton.__version__}, bfloat16 widened by bits, `not x` read as `x == 0`",
        format="mxfp4",
        options={},
        first=FIRST,
        last=LAST,
        payload=torch.cat([payload for payload, _ in parts]),
        scale=torch.cat([scale.contiguous() for _, scale in parts]),
    )
