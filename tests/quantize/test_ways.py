"""Every way to make a format's bytes on a CPU gives the reference's."""

import dataclasses
import shutil

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch

from fse_core.quantize import formats
from fse_core.quantize.base import Format, Quantized
from fse_core.quantize.fp8_block import Fp8Block
from fse_core.quantize.fp8_channel import Fp8Channel
from fse_core.quantize.fp8_tensor import Fp8Tensor
from fse_core.quantize.mxfp4 import Mxfp4
from fse_core.quantize.mxfp8 import Mxfp8
from tests.quantize import exhaustive
from tests.quantize.weights import UNUSUAL, random, rows_of, same, unusual

FORMATS: list[Format] = [
    Mxfp4(),
    Mxfp4(zero="positive"),
    Mxfp8(),
    Mxfp8(rule="even"),
    Fp8Block(),
    Fp8Channel(),
    Fp8Tensor(),
]
DTYPES = [torch.bfloat16, torch.float16, torch.float32]


def reference(form: Format, weight: torch.Tensor) -> Quantized:
    return dataclasses.replace(form, backend="reference").quantize(weight)


@pytest.mark.parametrize("zero", ["signed", "positive"])
def test_blocked_mxfp4_for_every_amax(zero: str) -> None:
    form = Mxfp4(zero="positive" if zero == "positive" else "signed", backend="blocked")
    blocks = exhaustive.e2m1_blocks()
    # Whole chunks are left to the reference where one row has to be: without those rows the others show too.
    wanted = reference(form, blocks)
    for rows in (slice(None), slice(0x400, 0x7F00), slice(0x7F00, None)):
        assert same(form.quantize(blocks[rows]), rows_of(wanted, rows))


@pytest.mark.parametrize("rule", ["rceil", "even"])
def test_blocked_mxfp8_for_every_amax(rule: str) -> None:
    form = Mxfp8(rule="even" if rule == "even" else "rceil", backend="blocked")
    blocks = exhaustive.e4m3_blocks()
    wanted = reference(form, blocks)
    for rows in (slice(None), slice(0x900, 0x7F00)):
        assert same(form.quantize(blocks[rows]), rows_of(wanted, rows))


def test_blocked_fp8_for_every_amax() -> None:
    rows = exhaustive.scaled_rows(128)
    assert same(Fp8Channel(backend="blocked").quantize(rows), reference(Fp8Channel(), rows))
    line = rows.view(1, -1)
    assert same(Fp8Block(backend="blocked").quantize(line), reference(Fp8Block(), line))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMATS, ids=repr)
def test_blocked_for_every_dtype(form: Format, dtype: torch.dtype) -> None:
    # More than one chunk, the last of them shorter, and its last block too.
    weight = random(700, 1056).to(dtype)
    weight[5, :96] = 0
    weight[600, :96] = -0.0
    assert same(dataclasses.replace(form, backend="blocked").quantize(weight), reference(form, weight))


@pytest.mark.parametrize("what", UNUSUAL)
@pytest.mark.parametrize("form", FORMATS, ids=repr)
def test_blocked_for_unusual_numbers(form: Format, what: str) -> None:
    weight = unusual(what)
    assert same(dataclasses.replace(form, backend="blocked").quantize(weight), reference(form, weight))


@pytest.mark.parametrize("form", FORMATS, ids=repr)
def test_flushing_subnormals_changes_nothing(form: Format) -> None:
    weight = unusual("tiny")
    wanted = reference(form, weight)
    torch.set_flush_denormal(True)  # a processor that cannot goes on as it is
    try:
        got = dataclasses.replace(form, backend="blocked").quantize(weight)
    finally:
        torch.set_flush_denormal(False)
    assert same(got, wanted)


@pytest.mark.parametrize("form", FORMATS, ids=repr)
def test_any_strides_in_and_out(form: Format) -> None:
    larger = random(300, 512)
    for weight in (larger[:, 64:320], larger[3:259:2, 32:288], larger.t()[:256, :288]):
        wanted = reference(form, weight.contiguous())
        storage = form.storage(*weight.shape)
        rows, columns = storage.payload_shape
        payload = torch.zeros(rows, columns + 3, dtype=torch.uint8).view(storage.payload_dtype)[:, 1 : columns + 1]
        scale = torch.zeros([size * 2 for size in storage.scale_shape], dtype=storage.scale_dtype)
        inner = scale[tuple(slice(0, 2 * size, 2) for size in storage.scale_shape)]
        for backend in ("auto", "reference"):
            done = dataclasses.replace(form, backend=backend).quantize(weight, payload=payload, scale=inner)
            assert done.payload is payload
            assert done.scale is inner
            assert same(done, wanted)


@pytest.mark.parametrize("form", FORMATS, ids=repr)
def test_nothing_outside_the_outputs_is_written(form: Format) -> None:
    weight = random(128, 128)
    storage = form.storage(*weight.shape)
    whole = torch.full((130, storage.payload_shape[1] + 4), 0x55, dtype=torch.uint8)
    inside = whole[1:129, 2:-2]
    form.quantize(weight, payload=inside.view(storage.payload_dtype))
    inside.fill_(0x55)
    assert bool((whole == 0x55).all())


@pytest.mark.parametrize("name", ["mxfp4", "mxfp8"])
def test_compiled(name: str) -> None:
    """For every amax. benchmarks/gpu_exact.py has the other formats too, whose compilation would take as long again."""
    if shutil.which("c++") is None and shutil.which("g++") is None and shutil.which("clang++") is None:
        pytest.skip("torch.compile needs a C++ compiler")
    form = formats()[name]
    every = {"mxfp4": exhaustive.e2m1_blocks, "mxfp8": exhaustive.e4m3_blocks}[name]()
    compiled = dataclasses.replace(form, backend="compiled")
    for weight in (every, unusual("tiny"), unusual("nan")):
        assert same(compiled.quantize(weight), reference(form, weight))
