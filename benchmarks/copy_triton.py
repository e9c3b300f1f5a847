"""A Triton kernel that moves as many bytes as a quantizer does, and computes nothing."""

import torch
import triton
import triton.language as tl


def copy(words: torch.Tensor, target: torch.Tensor, scale: torch.Tensor, *, size: int, warps: int) -> None:
    """Read every 32-bit word, write each cut to the target's dtype, and a byte for each sixteen."""
    _copy[(triton.cdiv(words.numel(), size),)](words, target, scale, words.numel(), size, num_warps=warps)


@triton.jit
def _copy(words, target, scale, count, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    word = tl.load(words + at, mask=at < count, other=0)
    tl.store(target + at, word.to(target.dtype.element_ty), mask=at < count)
    group = tl.program_id(0) * (SIZE // 16) + tl.arange(0, SIZE // 16)
    tl.store(scale + group, group.to(tl.uint8), mask=group * 16 < count)
