"""The references give what their definitions say, for every bfloat16 that can be the largest of a group."""

from fractions import Fraction

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch

from fse_core.quantize.base import Format
from fse_core.quantize.fp8_block import Fp8Block
from fse_core.quantize.fp8_channel import Fp8Channel
from fse_core.quantize.fp8_tensor import Fp8Tensor, tensor_scale
from fse_core.quantize.mxfp4 import Mxfp4
from fse_core.quantize.mxfp8 import Mxfp8
from tests.quantize import exhaustive, oracle


def made(form: Format, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    payload, scale = form.reference(weight)
    return payload, scale


@pytest.mark.parametrize("zero", ["signed", "positive"])
def test_mxfp4(zero: str) -> None:
    blocks = exhaustive.e2m1_blocks()
    payload, scale = made(Mxfp4(zero="positive" if zero == "positive" else "signed"), blocks)
    wanted_payload, wanted_scale = oracle.mxfp4(blocks, positive=zero == "positive")
    assert torch.equal(scale, wanted_scale)
    assert torch.equal(payload, wanted_payload)


@pytest.mark.parametrize("rule", ["rceil", "even"])
def test_mxfp8(rule: str) -> None:
    blocks = exhaustive.e4m3_blocks()
    payload, scale = made(Mxfp8(rule="even" if rule == "even" else "rceil"), blocks)
    wanted_payload, wanted_scale = oracle.mxfp8(blocks, rule=rule)
    assert torch.equal(scale, wanted_scale)
    assert torch.equal(payload, wanted_payload)


def test_fp8_block() -> None:
    rows = exhaustive.scaled_rows(128)
    payload, scale = made(Fp8Block(), rows.view(1, -1))
    assert torch.equal(payload.view(rows.shape), oracle.fp8(rows, scale.view(-1, 1), multiply=True))
    assert all_nearest(scale.flatten(), rows[:, 0].float().clamp(min=1e-4))


def test_fp8_channel() -> None:
    rows = exhaustive.scaled_rows(64)
    payload, scale = made(Fp8Channel(), rows)
    assert torch.equal(payload, oracle.fp8(rows, scale.unsqueeze(1), multiply=False))
    assert all_nearest(scale, rows[:, 0].float().clamp(min=1 / 512))


def test_fp8_tensor() -> None:
    rows = exhaustive.scaled_rows(64)
    for row in rows[1::397]:
        payload, scale = made(Fp8Tensor(), row.view(1, -1))
        assert torch.equal(payload, oracle.fp8(row.view(1, -1), scale, multiply=True))
    assert all_nearest(tensor_scale(rows[1:, 0].float()), rows[1:, 0].float().clamp(min=448 * 2.0**-126))


def all_nearest(scale: torch.Tensor, amax: torch.Tensor) -> bool:
    """Whether no other float32 is nearer to amax / 448, in exact arithmetic."""
    for one, peak in zip(scale[::61].tolist(), amax[::61].tolist(), strict=True):
        exact = Fraction(peak) / 448
        ulp = Fraction(float(torch.nextafter(torch.tensor(one), torch.tensor(torch.inf)))) - Fraction(one)
        if abs(Fraction(one) - exact) * 2 > ulp:
            return False
    return True


def block(*values: float) -> torch.Tensor:
    row = torch.zeros(1, 32, dtype=torch.bfloat16)
    row[0, : len(values)] = torch.tensor(values, dtype=torch.float64).bfloat16()
    return row


SMALL = 2.0**-126

MXFP4_ANSWERS = [
    ((4.5, -4.5, 0.3125, -0.3125), "7f", "e691"),
    ((6, -6, 1, -1), "7f", "f7a2"),
    ((6.5, 3, -1.5, 0.75), "7f", "572b"),
    ((7, 3.5, -1.75, 0.875), "80", "461a"),
    ((4, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5), "7f", "06224466"),
    ((4, -0.25, -0.75, -1.25, -1.75, -2.5, -3.5, -5), "7f", "86aaccee"),
    ((4, -0.1, -0.0, -0.2, 0.1, 0), "7f", "868800"),
    ((), "00", "00"),
    ((-0.0,) * 32, "00", "88" * 16),
    ((SMALL, SMALL / 2, -SMALL), "00", "240c"),
    ((3.3895313892515355e38, 1.7e38, -1.7e38), "fe", "240a"),
    # Inf and NaN: the largest scale, their own elements the largest code with their signs.
    ((float("inf"), 1, -1), "fe", "0708"),
    ((float("-inf"), 1, -1), "fe", "0f08"),
    ((float("nan"), 1, -1), "fe", "0708"),
]


@pytest.mark.parametrize(("values", "scale", "payload"), MXFP4_ANSWERS)
def test_mxfp4_known_answers(values: tuple[float, ...], scale: str, payload: str) -> None:
    codes, scales = made(Mxfp4(), block(*values))
    assert (bytes(scales[0].tolist()).hex(), bytes(codes[0].tolist()).hex()) == (scale, payload.ljust(32, "0"))


MXFP8_ANSWERS = [
    ((448.0, -0.0), "7f", "7f", "7e80", "7e80"),
    ((450.0,), "80", "7f", "76", "7e"),
    ((480.0,), "80", "7f", "77", "7e"),
    ((496.0,), "80", "80", "78", "78"),
    ((), "00", "00", "00", "00"),
    ((float("inf"), 1.0, -1.0), "fe", "fe", "7e0080", "7e0080"),
    ((float("nan"), -float("nan"), -1.0), "fe", "fe", "7f7f80", "7f7f80"),
]


@pytest.mark.parametrize(("values", "rceil", "even", "rceil_codes", "even_codes"), MXFP8_ANSWERS)
def test_mxfp8_known_answers(
    values: tuple[float, ...], rceil: str, even: str, rceil_codes: str, even_codes: str
) -> None:
    for form, scale, codes in ((Mxfp8(), rceil, rceil_codes), (Mxfp8(rule="even"), even, even_codes)):
        payload, scales = made(form, block(*values))
        assert (bytes(scales[0].tolist()).hex(), bytes(payload[0].tolist()).hex()) == (scale, codes.ljust(64, "0"))


@pytest.mark.parametrize("form", [Fp8Block(), Fp8Channel(), Fp8Tensor()])
@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan"), -float("nan")])
def test_a_scale_of_its_own_is_nan_where_a_number_is_not_finite(form: Format, value: float) -> None:
    payload, scale = made(form, block(1, value, -1))
    assert scale.view(torch.int32).flatten().tolist() == [0x7FC00000]
    assert set(payload.flatten().tolist()) == {0x7F}


@pytest.mark.parametrize(
    ("form", "scale"), [(Fp8Block(), 1e-4 / 448), (Fp8Channel(), 1 / (448 * 512)), (Fp8Tensor(), 1.0)]
)
def test_zeros_have_a_scale_and_keep_their_signs(form: Format, scale: float) -> None:
    payload, scales = made(form, block(0, -0.0, 0))
    assert scales.flatten().tolist() == pytest.approx([scale], rel=1e-7)
    assert payload[0, :4].tolist() == [0, 0x80, 0, 0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_other_dtypes_are_rounded_once(dtype: torch.dtype) -> None:
    # By way of bfloat16 the second would be the tie 1.25, and go to 1.
    weight = torch.zeros(1, 32, dtype=dtype)
    weight[0, :2] = torch.tensor([4.0, 1.251], dtype=dtype)
    payload, scale = made(Mxfp4(), weight)
    assert (scale.item(), payload[0, 0].item()) == (0x7F, 0x36)


def test_float32_subnormals_and_float16_subnormals() -> None:
    tiny = torch.zeros(1, 32)
    tiny[0, :3] = torch.tensor([2.0**-126, 2.0**-128, -(2.0**-149)])
    # The scale is 2^-127: 2, a half and nothing.
    assert made(Mxfp4(), tiny)[0][0, :2].tolist() == [0x14, 0x08]
    half = torch.zeros(1, 32, dtype=torch.float16)
    half[0, :2] = torch.tensor([6 * 2.0**-24, -(2.0**-24)], dtype=torch.float16)
    payload, scale = made(Mxfp4(), half)
    assert (scale.item(), payload[0, 0].item()) == (127 - 24, 0xA7)
