"""What a format promises besides its bytes: storage, values, errors, and what it refuses."""

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch

from fse_core.errors import InputError
from fse_core.quantize import Format, Quantized, Storage, formats
from fse_core.quantize.mxfp4 import Mxfp4
from fse_core.quantize.mxfp8 import Mxfp8
from tests.quantize.exhaustive import E2M1, e4m3_values
from tests.quantize.weights import random

ALL = list(formats().values())
E4M3 = torch.float8_e4m3fn


def test_every_format_is_found_by_its_name() -> None:
    assert sorted(formats()) == ["fp8_block", "fp8_channel", "fp8_tensor", "mxfp4", "mxfp8"]
    assert all(form.name == name for name, form in formats().items())


def stored(payload: tuple[int, ...], scale: tuple[int, ...], names: str, aligned: tuple[int, int]) -> Storage:
    return Storage(
        payload_shape=payload,
        payload_dtype=torch.uint8 if len(payload) and payload[1] < 200 else E4M3,
        scale_shape=scale,
        scale_dtype=torch.float32 if "float" in names else torch.uint8,
        scale_suffix="weight_scale_inv" if "inv" in names else "weight_scale",
        row_alignment=aligned[0],
        column_alignment=aligned[1],
    )


STORED = {
    "mxfp4": stored((130, 160), (130, 10), "", (1, 32)),
    "mxfp8": stored((130, 320), (130, 10), "", (1, 32)),
    "fp8_block": stored((130, 320), (2, 3), "float inv", (128, 128)),
    "fp8_channel": stored((130, 320), (130,), "float", (1, 1)),
    "fp8_tensor": stored((130, 320), (1,), "float", (1, 1)),
}


@pytest.mark.parametrize("name", STORED)
def test_storage_is_what_quantize_gives(name: str) -> None:
    form = formats()[name]
    assert form.storage(130, 320) == STORED[name]
    done = form.quantize(random(130, 320))
    assert (tuple(done.payload.shape), done.payload.dtype) == (STORED[name].payload_shape, STORED[name].payload_dtype)
    assert (tuple(done.scale.shape), done.scale.dtype) == (STORED[name].scale_shape, STORED[name].scale_dtype)


@pytest.mark.parametrize("name", ["mxfp4", "mxfp8"])
def test_columns_that_do_not_divide_are_refused_with_the_numbers(name: str) -> None:
    with pytest.raises(InputError, match=rf"^weight: {name} needs columns in multiples of 32, got 4 x 48$"):
        formats()[name].quantize(torch.zeros(4, 48))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (torch.zeros(2, 2, 32), r"^weight: expected 2 dimensions, got shape \(2, 2, 32\)$"),
        (
            torch.zeros(2, 32, dtype=torch.float64),
            r"^weight: expected bfloat16, float16 or float32, got torch\.float64$",
        ),
        (torch.zeros(2, 32, dtype=torch.int8), r"^weight: expected bfloat16, float16 or float32, got torch\.int8$"),
    ],
)
def test_other_weights_are_refused(weight: torch.Tensor, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Mxfp4().quantize(weight)


def test_outputs_of_another_shape_or_dtype_are_refused() -> None:
    with pytest.raises(InputError, match=r"^payload: expected torch.uint8 \(2, 16\) on cpu, got .*\(2, 32\) on cpu$"):
        Mxfp4().quantize(random(2, 32), payload=torch.zeros(2, 32, dtype=torch.uint8))
    with pytest.raises(InputError, match=r"^scale: expected torch.uint8 \(2, 1\) on cpu, got torch.float32 "):
        Mxfp4().quantize(random(2, 32), scale=torch.zeros(2, 1))


@pytest.mark.parametrize("form", ALL, ids=repr)
@pytest.mark.parametrize("shape", [(0, 64), (4, 0)])
def test_an_empty_weight_has_no_bytes(form: Format, shape: tuple[int, int]) -> None:
    done = form.quantize(torch.zeros(shape, dtype=torch.bfloat16))
    assert tuple(done.payload.shape) == form.storage(*shape).payload_shape
    assert form.error(torch.zeros(shape), done).largest == 0


def test_every_mxfp4_byte_reads_back() -> None:
    payload = torch.arange(256, dtype=torch.uint8).view(16, 16)
    values = Mxfp4().dequantize(Quantized(payload=payload, scale=torch.full((16, 1), 128, dtype=torch.uint8)))
    table = [*E2M1, *(-value for value in E2M1)]
    wanted = [2 * table[code] for byte in range(256) for code in (byte & 15, byte >> 4)]
    assert values.flatten().tolist() == wanted
    assert values.dtype == torch.bfloat16


def test_every_mxfp8_byte_reads_back() -> None:
    payload = torch.arange(256, dtype=torch.uint8).view(8, 32)
    scale = torch.full((8, 1), 126, dtype=torch.uint8)
    values = Mxfp8().dequantize(Quantized(payload=payload.view(E4M3), scale=scale), torch.float32).flatten()
    assert values[:127].tolist() == [value / 2 for value in e4m3_values()]
    assert values[128:255].tolist() == [-value / 2 for value in e4m3_values()]
    assert values[[127, 255]].isnan().all()


def test_every_power_of_two_scale_reads_back() -> None:
    scale = torch.arange(256, dtype=torch.uint8).view(256, 1)
    payload = torch.full((256, 16), 0x22, dtype=torch.uint8)
    values = Mxfp4().dequantize(Quantized(payload=payload, scale=scale), torch.float32)[:, 0]
    assert values[:255].tolist() == [2.0 ** (byte - 127) for byte in range(255)]
    assert values[255].isnan()


@pytest.mark.parametrize("form", ALL, ids=repr)
def test_what_was_read_back_keeps_its_values(form: Format) -> None:
    values = form.dequantize(form.quantize(random(256, 384)), torch.float32)
    assert torch.equal(form.dequantize(form.quantize(values), torch.float32), values)


# Of normally distributed weights.
EXPECTED = {"mxfp4": 0.0126, "mxfp8": 0.00071, "fp8_block": 0.00070, "fp8_channel": 0.00070, "fp8_tensor": 0.00070}


@pytest.mark.parametrize("name", EXPECTED)
def test_error(name: str) -> None:
    form, weight = formats()[name], random(1024, 1024)
    done = form.quantize(weight)
    error = form.error(weight, done)
    difference = weight.double() - form.dequantize(done, torch.float32).double()
    assert error.relative_mse == pytest.approx(float(difference.square().sum() / weight.double().square().sum()))
    assert error.largest == pytest.approx(float(difference.abs().max()))
    assert error.relative_mse == pytest.approx(EXPECTED[name], rel=0.03)


def test_error_of_nothing_and_of_what_is_not_a_number() -> None:
    zeros = torch.zeros(2, 32)
    assert Mxfp4().error(zeros, Mxfp4().quantize(zeros)).relative_mse == 0
    zeros[0, 0] = torch.nan
    error = Mxfp8().error(zeros, Mxfp8().quantize(zeros))
    assert error.relative_mse != error.relative_mse
    assert error.largest != error.largest
