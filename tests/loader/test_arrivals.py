"""Tensors come in any order, each once: what is missing, comes twice, or does not belong is said by name."""

import itertools
import random

import pytest

pytest.importorskip("torch")

import torch

from fse_core.errors import InputError
from fse_core.loader import FusedLayer, SharedExpertLoader
from fse_core.quantize import formats
from fse_core.slots import Geometry, layout
from tests.loader.fused import FILLING, fused, octets, same

SHARED = "model.layers.{}.mlp.shared_experts"
GEOMETRY = Geometry(hidden=128, intermediate=128, routed=2)
GATE, UP, DOWN = (f"{SHARED.format(1)}.{name}_proj.weight" for name in ("gate", "up", "down"))
Tensors = dict[str, torch.Tensor]


def loader(name: str = "mxfp4", layers: int = 1) -> tuple[SharedExpertLoader, list[Tensors]]:
    tensors = [fused(GEOMETRY, layout(name)) for _ in range(layers)]
    places = [
        FusedLayer(shared=SHARED.format(index + 1), tensors=one, geometry=GEOMETRY) for index, one in enumerate(tensors)
    ]
    return SharedExpertLoader(places, formats()[name]), tensors


def weight(number: int = 0) -> torch.Tensor:
    return torch.randn((128, 128), generator=torch.Generator().manual_seed(number)).to(torch.bfloat16)


def untouched(tensors: Tensors) -> bool:
    return all(bool((octets(tensor) == FILLING).all()) for tensor in tensors.values())


def test_any_order_gives_the_same_bytes() -> None:
    names = [f"{SHARED.format(layer)}.{name}_proj.weight" for layer in (1, 2) for name in ("gate", "up", "down")]
    results = []
    for seed in range(4):
        order = list(enumerate(names))
        random.Random(seed).shuffle(order)
        taker, tensors = loader(layers=2)
        for number, name in order:
            assert not taker.complete
            assert taker.take(name, weight(number))
        assert taker.complete
        assert [report.quantized for report in taker.finish()] == [tuple(names[:3]), tuple(names[3:])]
        results.append(tensors)
    for other in results[1:]:
        assert all(same(one[key], two[key]) for one, two in zip(results[0], other, strict=True) for key in one)


def test_stacked_projections_give_the_bytes_of_split_ones() -> None:
    for name, form in formats().items():
        (split, (apart,)), (stacked, (together,)) = loader(name), loader(name)
        for number, path in enumerate((GATE, UP, DOWN)):
            split.take(path, weight(number))
        stacked.take(GATE.replace("gate_proj", "gate_up_proj"), torch.cat([weight(0), weight(1)]))
        stacked.take(DOWN, weight(2))
        split.finish()
        assert len(stacked.finish()[0].quantized) == 2
        assert all(same(apart[key], together[key]) for key in apart), form


def test_other_tensors_are_left_alone() -> None:
    taker, (tensors,) = loader()
    for name in ("model.layers.1.mlp.experts.0.up_proj.weight", SHARED.format(3) + ".up_proj.weight", "lm_head.weight"):
        assert not taker.take(name, weight())
    assert untouched(tensors)


def test_what_is_missing_is_named() -> None:
    taker, _ = loader()
    taker.take(UP, weight())
    assert not taker.complete
    assert taker.missing() == (GATE, DOWN)
    with pytest.raises(InputError, match=f"^2 tensors are missing in the checkpoint: {GATE}, {DOWN}$"):
        taker.finish()


def test_a_stored_weight_without_its_scale_is_missing_it() -> None:
    taker, _ = loader("fp8_block")
    for path in (GATE, UP, DOWN):
        taker.take(path, weight().to(torch.float8_e4m3fn))
    taker.take(f"{GATE}_scale_inv", torch.ones(1, 1))
    assert taker.missing() == (f"{UP}_scale_inv", f"{DOWN}_scale_inv")
    assert taker.report()[0].copied == (GATE, UP, DOWN, f"{GATE}_scale_inv")


STACKED = GATE.replace("gate_proj", "gate_up_proj")


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (GATE, GATE, "the gate projection's weight comes a second time"),
        (UP, STACKED, f"the up projection's weight comes though {UP} brought it"),
        (STACKED, UP, f"the up projection's weight comes though {STACKED} brought it"),
        (GATE, GATE.replace("gate_proj", "w1"), f"the gate projection's weight comes though {GATE} brought it"),
    ],
)
def test_what_comes_twice_is_named(first: str, second: str, words: str) -> None:
    taker, (tensors,) = loader()
    stacked = torch.cat([weight(0), weight(1)])
    taker.take(first, stacked if first == STACKED else weight())
    before = {key: tensor.clone() for key, tensor in tensors.items()}
    with pytest.raises(InputError, match=f"^{second}: {words}$"):
        taker.take(second, stacked if second == STACKED else weight(5))
    assert all(same(before[key], tensors[key]) for key in before)


def test_a_scale_for_a_weight_in_full_precision_is_refused_in_either_order() -> None:
    scale, name = torch.full((128, 4), 127, dtype=torch.uint8), f"{GATE}_scale"
    taker, _ = loader()
    taker.take(GATE, weight())
    with pytest.raises(InputError, match=f"{name}: is a scale for {GATE}, which came in full precision"):
        taker.take(name, scale)
    taker, _ = loader()
    taker.take(name, scale)
    with pytest.raises(InputError, match=f"{GATE}: is torch.bfloat16, in full precision, and {name} is a scale for it"):
        taker.take(GATE, weight())


def test_scales_of_type_e8m0_are_taken_by_their_bytes() -> None:
    taker, (tensors,) = loader("mxfp8")
    scale = torch.arange(512, dtype=torch.int32).to(torch.uint8).view(128, 4)
    taker.take(f"{GATE}_scale_inv", scale.view(torch.float8_e8m0fnu))
    assert same(tensors["w13_weight_scale"][2][:128], scale)


@pytest.mark.parametrize(
    ("name", "tensor", "words"),
    [
        (GATE, torch.zeros(128, 128).to(torch.float8_e4m3fn), r"float8_e4m3fn: neither mxfp4 \(torch.uint8\) nor in"),
        (GATE, torch.zeros(128, 128, dtype=torch.int8), "int8: neither mxfp4"),
        (GATE, torch.zeros(64, 128), "is 64x128, and 1 x 128 wide slots take 128x128: .* narrower"),
        (DOWN, torch.zeros(128, 256), "is 128x256, and 1 x 128 wide slots take 128x128: .* wider"),
        (f"{GATE}_scale", torch.tensor(1.0), "a scale without dimensions cannot be cut into slots"),
        (f"{GATE}_scale", torch.zeros(128, 4), "is torch.float32, and mxfp4 has torch.uint8 scales"),
        (f"{GATE}_scale", torch.zeros(128, 1, dtype=torch.uint8), "is 128x1, and mxfp4 has 128x4 scales here"),
        (GATE.replace("weight", "bias"), torch.zeros(128), "no place for the shared expert's gate_proj.bias"),
    ],
)
def test_what_does_not_belong_is_refused_and_nothing_written(name: str, tensor: torch.Tensor, words: str) -> None:
    taker, (tensors,) = loader()
    with pytest.raises(InputError, match=words):
        taker.take(name, tensor)
    assert untouched(tensors)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"w2_weight_scale": None}, "has no such fused tensor, and mxfp4 needs it"),
        ({"w13_weight": (3, 255, 64)}, r"255 rows in .* are not two halves|is \[3, 255, 64\]"),
        ({"w13_weight": (2, 256, 64)}, r"is \[2, 256, 64\] in .*, and its slots need \[3, 256, 64\]"),
        ({"w2_weight_scale": (3, 128, 3)}, r"is \[3, 128, 3\] in .*, and its slots need \[3, 128, 4\]"),
    ],
)
def test_fused_tensors_that_cannot_hold_the_slots(change: dict[str, tuple[int, ...] | None], words: str) -> None:
    tensors = fused(GEOMETRY, layout("mxfp4"))
    for key, shape in change.items():
        del tensors[key]
        if shape is not None:
            tensors[key] = torch.zeros(shape, dtype=torch.uint8)
    with pytest.raises(InputError, match=words):
        SharedExpertLoader([FusedLayer(shared=SHARED, tensors=tensors, geometry=GEOMETRY)], formats()["mxfp4"])


def test_fused_tensors_of_another_type() -> None:
    tensors = fused(GEOMETRY, layout("mxfp8"))
    with pytest.raises(InputError, match=r"w13_weight: is torch.float8_e4m3fn in .*, and mxfp4 has torch.uint8"):
        SharedExpertLoader([FusedLayer(shared=SHARED, tensors=tensors, geometry=GEOMETRY)], formats()["mxfp4"])


def test_halves_that_end_inside_of_a_block() -> None:
    tensors = fused(GEOMETRY, layout("fp8_block"), padding=64)
    with pytest.raises(InputError, match=r"384 rows in .* are not two halves of whole blocks"):
        SharedExpertLoader([FusedLayer(shared=SHARED, tensors=tensors, geometry=GEOMETRY)], formats()["fp8_block"])


@pytest.mark.parametrize(("rows", "columns"), list(itertools.product((1, 3), (2, 5))))
def test_weights_need_not_be_contiguous(rows: int, columns: int) -> None:
    (plain, (one,)), (strided, (other,)) = loader(), loader()
    for number, path in enumerate((GATE, UP, DOWN)):
        around = torch.zeros(128 * rows, 128 * columns, dtype=torch.bfloat16)
        view = around[::rows, ::columns]
        view.copy_(weight(number))
        plain.take(path, weight(number))
        strided.take(path, view)
    assert all(same(one[key], other[key]) for key in one)
