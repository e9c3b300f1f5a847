"""MXFP4 by aiter's own kernel, where a ROCm build of torch runs and the installed aiter gives vLLM's bytes.

Versions differ in how they round ties (those from before the end of November 2025 round them away from zero), so the
kernel first has to answer a block whose bytes are known; one that answers otherwise is refused, and said so once.
This has not run on an AMD GPU: the tests check the probe with a module in aiter's place, and tests/quantize/peers puts
it to aiter's own kernel, interpreted. Of a group with NaN aiter makes bytes of its own kind; the probe has none.
"""

import functools
import importlib
from collections.abc import Callable

import torch

from fse_core.quantize.devices import say_once

Kernel = Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]

MODULE = "aiter.ops.triton.quant"
# Ties of both signs, zeros of both signs and a negative that rounds to zero; then a block of zeros; four equal rows.
ELEMENTS = (4.0, -0.25, -0.75, -1.25, -1.75, -2.5, -3.5, -5.0, 0.0, -0.0, -0.1, 7.0e-3, 1.25, 2.5, 3.5, 5.0)
PAYLOAD = bytes.fromhex("86aaccee80084266") + bytes(24)


def fill(weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor) -> bool:
    """Write the bytes by aiter's kernel; False, with nothing written, where there is none to be trusted."""
    if torch.version.hip is None or weight.device.type != "cuda" or weight.dtype != torch.bfloat16:
        return False
    kernel = trusted(weight.device.type)
    if kernel is None:
        return False
    codes, scales = kernel(weight.contiguous())
    payload.copy_(codes.view(torch.uint8))
    scale.copy_(scales.view(torch.uint8))
    return True


@functools.cache
def trusted(device: str) -> Kernel | None:
    """aiter's kernel, if it can be imported and answers the known block rightly on this kind of device."""
    try:
        kernel: Kernel = importlib.import_module(MODULE).dynamic_mxfp4_quant
        right = answers(kernel, device)
    # Importing it asks the hardware, and calling it compiles: either fails in ways of its own.
    except Exception as error:
        say_once(f"mxfp4: aiter's kernel is not used: {error}")
        return None
    if not right:
        say_once("mxfp4: aiter's kernel is not used: this version's bytes for a known block differ from vLLM's")
        return None
    say_once("mxfp4: quantizing with aiter's kernel, whose bytes for a known block are vLLM's")
    return kernel


def answers(kernel: Kernel, device: str) -> bool:
    """Whether the kernel gives the known bytes for the known block."""
    row = torch.zeros(64, dtype=torch.bfloat16)
    row[: len(ELEMENTS)] = torch.tensor(ELEMENTS, dtype=torch.bfloat16)
    codes, scales = kernel(row.repeat(4, 1).to(device))
    wanted = list(PAYLOAD)
    right = [bytes_.cpu().tolist() for bytes_ in (codes.view(torch.uint8), scales.view(torch.uint8))]
    return right == [[wanted] * 4, [[127, 0]] * 4]
