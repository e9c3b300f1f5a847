"""MXFP4 of a bfloat16 weight on a CPU: 16-bit integer arithmetic in buffers that stay in cache, without a compiler."""

from collections.abc import Callable

import torch

from fse_core.quantize.chunks import row_chunks
from fse_core.quantize.e8m0 import GROUP
from fse_core.quantize.layout import packed_view

Reference = Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]

# Group maxima (bfloat16 bits) from 2^-122 to just under 1.75 * 2^127: here no element or scale meets a special case.
SMALLEST, TOO_LARGE = 0x0280, 0x7F60
# One 16-bit value in each of a word's four lanes.
LANES = 0x0001000100010001


def fill(
    weight: torch.Tensor, payload: torch.Tensor, scale: torch.Tensor, *, reference: Reference, positive: bool
) -> None:
    """Write the bytes that `reference` gives; it is asked itself about rows with tiny, huge or no numbers."""
    raw, packed = weight.view(torch.int16), packed_view(payload, torch.int16)
    buffers: _Buffers | None = None
    for rows in row_chunks(weight):
        bits = raw[rows]
        if buffers is None or buffers.code.shape != bits.shape:
            buffers = _Buffers(*bits.shape)
        amax = buffers.largest(bits)
        if _ordinary(amax):
            exponent = (amax + 0x20) >> 7
            scale[rows].copy_((exponent - 2).clamp_(min=0))
            buffers.encode(exponent)
            buffers.sign(bits, positive)
            words = buffers.pack()
            if packed is not None:
                packed[rows].copy_(words)
            else:
                payload[rows].copy_(words.to(torch.int16).view(torch.uint8))
        else:
            codes, scales = reference(weight[rows])
            payload[rows].copy_(codes)
            scale[rows].copy_(scales)


def _ordinary(amax: torch.Tensor) -> bool:
    least, most = (int(value) for value in torch.aminmax(amax))
    if least >= SMALLEST or most == 0:
        return most < TOO_LARGE
    return most < TOO_LARGE and bool(((amax == 0) | (amax >= SMALLEST)).all())


class _Buffers:
    """What a chunk of so many rows is worked on in: its magnitudes, which become codes, and two spares."""

    def __init__(self, rows: int, columns: int) -> None:
        memory = torch.empty((3, rows, columns), dtype=torch.int16)
        self.code, self.other, self.spare = memory
        self.groups = self.code.view(rows, columns // GROUP, GROUP)
        self.words, self.other_words, _ = memory.view(torch.int64)
        self.other_groups = self.other_words.view(rows, columns // GROUP, GROUP // 4)

    def largest(self, bits: torch.Tensor) -> torch.Tensor:
        """Take these numbers' magnitudes, and give each group's largest."""
        torch.bitwise_and(bits, 0x7FFF, out=self.code)
        amax: torch.Tensor = self.groups.amax(-1)
        return amax

    def encode(self, exponent: torch.Tensor) -> None:
        """Replace each magnitude by its code.

        Let d be the magnitude's bits less those of a quarter of the scale: 0 is .25, 64 is half a binade. Then the
        codes 1 to 7 begin at d = 1, 192, 289, 352, 417, 480, 545. From 256 on that is d / 64 rounded half to even;
        below, d is moved to where that rounding gives the right code: 0 to 160, 1..191 into 161..223, 192..255 into
        224..287. Here 128 less.
        """
        # 4 = emax + 2: a quarter. 128: the code of 1 is 2, so the rounding's result is too large by two steps of 64.
        base = ((exponent - 4) << 7).clamp_(min=0).add_(128).to(torch.int64).mul_(LANES)
        self.other_groups.copy_(base.unsqueeze(-1))
        code, other, spare = self.code, self.other, self.spare
        code.sub_(other).clamp_(-128, 447)
        torch.add(code, 32, out=other).clamp_(33, 159)
        torch.maximum(code, other, out=other)
        torch.add(code, 160, out=spare)
        torch.minimum(other, spare, out=code)
        torch.bitwise_right_shift(code, 6, out=other).bitwise_and_(1)
        code.add_(other).add_(31).bitwise_right_shift_(6)

    def sign(self, bits: torch.Tensor, positive: bool) -> None:
        """Add the signs to the codes; with `positive`, none to code 0."""
        torch.bitwise_right_shift(bits, 12, out=self.other).bitwise_and_(8)
        if positive:
            # Bit 3 of code + 7 is set for every code but 0.
            self.other.bitwise_and_(torch.add(self.code, 7, out=self.spare))
        self.code.bitwise_or_(self.other)

    def pack(self) -> torch.Tensor:
        """Words of four nibbles each in its low 16 bits, in order; what is above them is to be dropped."""
        self.words.bitwise_or_(torch.bitwise_right_shift(self.words, 12, out=self.other_words))
        self.words.bitwise_or_(torch.bitwise_right_shift(self.words, 24, out=self.other_words))
        words: torch.Tensor = self.words
        return words
