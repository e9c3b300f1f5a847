"""The Triton kernels give the reference's bytes in Triton's interpreter, on a CPU.

The interpreter runs the plain integer paths; benchmarks/gpu_exact.py compares those with a GPU's own instructions.
"""

import os

# Read when triton is first imported.
os.environ.setdefault("TRITON_INTERPRET", "1")

import dataclasses

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch

from fse_core.quantize.base import Format
from fse_core.quantize.fp8_block import Fp8Block
from fse_core.quantize.fp8_channel import Fp8Channel
from fse_core.quantize.fp8_tensor import Fp8Tensor
from fse_core.quantize.mxfp4 import Mxfp4
from fse_core.quantize.mxfp8 import Mxfp8
from tests.quantize import exhaustive
from tests.quantize.weights import UNUSUAL, random, same, unusual

FORMATS: list[Format] = [
    Mxfp4(),
    Mxfp4(zero="positive"),
    Mxfp8(),
    Mxfp8(rule="even"),
    Fp8Block(),
    Fp8Channel(),
    Fp8Tensor(),
]


def check(form: Format, weight: torch.Tensor) -> None:
    wanted = dataclasses.replace(form, backend="reference").quantize(weight)
    assert same(dataclasses.replace(form, backend="triton").quantize(weight), wanted)


@pytest.mark.parametrize("form", FORMATS[:2], ids=repr)
def test_mxfp4_for_every_amax(form: Format) -> None:
    check(form, exhaustive.e2m1_blocks())


@pytest.mark.parametrize("form", FORMATS[2:4], ids=repr)
def test_mxfp8_for_every_amax(form: Format) -> None:
    check(form, exhaustive.e4m3_blocks())


def test_fp8_channel_for_every_amax() -> None:
    check(Fp8Channel(), exhaustive.scaled_rows(128))


def test_fp8_channel_of_rows_longer_than_a_program_holds() -> None:
    weight = random(3, 40_000)
    weight[1, 39_000] = 7.0
    weight[2, 39_000] = torch.nan
    check(Fp8Channel(), weight)


def test_fp8_block_for_every_fraction_of_an_amax() -> None:
    # Every 193rd: each of the 128 fractions. A program has one block: all would take minutes.
    check(Fp8Block(), exhaustive.scaled_rows(128)[::193].reshape(1, -1))


@pytest.mark.parametrize("what", UNUSUAL)
@pytest.mark.parametrize("form", FORMATS, ids=repr)
def test_unusual_numbers(form: Format, what: str) -> None:
    check(form, unusual(what)[:64])


@pytest.mark.parametrize("form", FORMATS, ids=repr)
def test_any_strides_in_and_out(form: Format) -> None:
    larger = random(140, 512)
    for weight in (larger[:, 64:352], larger[3:35:2, 32:288], larger[:, 1:33], larger.t()[:64, :128]):
        wanted = dataclasses.replace(form, backend="reference").quantize(weight)
        storage = form.storage(*weight.shape)
        rows, columns = storage.payload_shape
        for spare in (3, 16):
            whole = torch.zeros(rows, columns + spare, dtype=torch.uint8)
            payload = whole.view(storage.payload_dtype)[:, :columns]
            scale = torch.zeros([size * 2 for size in storage.scale_shape], dtype=storage.scale_dtype)
            inner = scale[tuple(slice(0, 2 * size, 2) for size in storage.scale_shape)]
            done = dataclasses.replace(form, backend="triton").quantize(weight, payload=payload, scale=inner)
            assert same(done, wanted)
            assert not whole[:, columns:].any()
