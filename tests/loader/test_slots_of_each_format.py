"""Every format, rank and number of shared experts: a slot holds the slice of the whole slot's bytes."""

import itertools

import pytest

pytest.importorskip("torch")

import torch

from fse_core.errors import InputError
from fse_core.loader import FusedLayer, SharedExpertLoader
from fse_core.quantize import Format, Quantized, formats
from fse_core.slots import LAYOUTS, PLAIN, Geometry, Layout, layout
from tests.loader.fused import FILLING, fused, octets, same

PREFIX = "model.layers.3.mlp.shared_experts"
HIDDEN, WIDE, ROUTED = 256, 512, 2
NAMES = sorted(set(LAYOUTS) - {"plain"})
RANKS = [(1, 0), (2, 1), (4, 0), (4, 3)]


def matrices(shared: int, dtype: torch.dtype = torch.bfloat16) -> dict[str, torch.Tensor]:
    random = torch.Generator().manual_seed(shared)
    wide = shared * WIDE
    shapes = {"gate_proj": (wide, HIDDEN), "up_proj": (wide, HIDDEN), "down_proj": (HIDDEN, wide)}
    return {name: torch.randn(shape, generator=random).to(dtype) for name, shape in shapes.items()}


def rank_of(whole: torch.Tensor, geometry: Geometry, axis: int) -> torch.Tensor:
    """The release's slice of a slot's payload or scales."""
    each = whole.shape[axis] // geometry.tp
    return whole.narrow(axis, geometry.rank * each, each)


def expected(geometry: Geometry, form: Format, weights: dict[str, torch.Tensor]) -> list[tuple[str, int, Quantized]]:
    """As the release does it: each slot is quantized whole, then cut. Projection, slot, and this rank's bytes."""
    made = []
    for name, weight in weights.items():
        for number, chunk in enumerate(weight.chunk(geometry.shared, dim=1 if name == "down_proj" else 0)):
            whole = form.quantize(chunk.contiguous())
            axis = 1 if name == "down_proj" else 0
            sharded = whole.scale.ndim > axis and form.name != "fp8_tensor"
            scale = rank_of(whole.scale, geometry, axis) if sharded else whole.scale
            payload = rank_of(whole.payload, geometry, axis)
            made.append((name, geometry.routed + number, Quantized(payload=payload, scale=scale)))
    return made


def half(tensor: torch.Tensor, name: str) -> torch.Tensor:
    """One expert's gate or up part of w13; all of it for down."""
    if name == "down_proj":
        return tensor
    above, below = tensor.chunk(2, dim=0)
    return above if name == "gate_proj" else below


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shared", [1, 2])
@pytest.mark.parametrize(("tp", "rank"), RANKS)
def test_online_slots_are_slices_of_whole_slots(name: str, shared: int, tp: int, rank: int) -> None:
    geometry = Geometry(hidden=HIDDEN, intermediate=WIDE, routed=ROUTED, shared=shared, tp=tp, rank=rank)
    tensors = fused(geometry, layout(name), after=1)
    loader = SharedExpertLoader([FusedLayer(shared=PREFIX, tensors=tensors, geometry=geometry)], formats()[name])
    weights = matrices(shared)
    for module, weight in weights.items():
        assert loader.take(f"{PREFIX}.{module}.weight", weight)
    loader.finish()
    scale = layout(name).scale
    for module, slot, bytes_ in expected(geometry, formats()[name], weights):
        stem = "w2" if module == "down_proj" else "w13"
        assert same(half(tensors[f"{stem}_weight"][slot], module), bytes_.payload)
        assert same(half(tensors[f"{stem}_{scale}"][slot], module).reshape(bytes_.scale.shape), bytes_.scale)
    for tensor in tensors.values():
        others = [*range(geometry.routed), *range(geometry.slots.stop, tensor.shape[0])]
        assert (octets(tensor[others]) == FILLING).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_stored_experts_load_like_quantized_ones(name: str, dtype: torch.dtype) -> None:
    geometry = Geometry(hidden=HIDDEN, intermediate=WIDE, routed=ROUTED, tp=2, rank=1)
    form = formats()[name]
    online, stored = fused(geometry, layout(name)), fused(geometry, layout(name))
    loaders = [
        SharedExpertLoader([FusedLayer(shared=PREFIX, tensors=tensors, geometry=geometry)], form)
        for tensors in (online, stored)
    ]
    for module, weight in matrices(1, dtype).items():
        quantized = form.quantize(weight)
        loaders[0].take(f"{PREFIX}.{module}.weight", weight)
        loaders[1].take(f"{PREFIX}.{module}.{layout(name).scale}", quantized.scale)
        loaders[1].take(f"{PREFIX}.{module}.weight", quantized.payload)
    (first,), (second,) = (loader.finish() for loader in loaders)
    assert all(same(online[key], stored[key]) for key in online)
    assert (len(first.quantized), first.copied) == (3, ())
    assert (second.quantized, len(second.copied)) == ((), 6)


@pytest.mark.parametrize("name", NAMES)
def test_padding_stays_as_it_was(name: str) -> None:
    geometry = Geometry(hidden=HIDDEN, intermediate=WIDE, routed=0, tp=4, rank=3)
    bare, padded = fused(geometry, layout(name)), fused(geometry, layout(name), padding=128)
    for tensors in (bare, padded):
        loader = SharedExpertLoader([FusedLayer(shared=PREFIX, tensors=tensors, geometry=geometry)], formats()[name])
        for module, weight in matrices(1).items():
            loader.take(f"{PREFIX}.{module}.weight", weight)
    for key, tensor in bare.items():
        filled = octets(padded[key]) != FILLING
        assert int(filled.sum()) == int((octets(tensor) != FILLING).sum())
        for module in ("gate_proj", "up_proj") if key.startswith("w13") else ("down_proj",):
            inner, outer = half(tensor[0], module), half(padded[key][0], module)
            for axis, size in enumerate(inner.shape):
                outer = outer.narrow(axis, 0, size)
            assert same(inner, outer)


def test_full_precision_routed_experts_take_copies() -> None:
    geometry = Geometry(hidden=HIDDEN, intermediate=WIDE, routed=1, shared=2, tp=2, rank=1)
    tensors = fused(geometry, PLAIN)
    loader = SharedExpertLoader([FusedLayer(shared=PREFIX, tensors=tensors, geometry=geometry)], None)
    weights = matrices(2)
    for module, weight in weights.items():
        loader.take(f"{PREFIX}.{module}.weight", weight)
    (report,) = loader.finish()
    assert (report.quantized, report.slots) == ((), range(1, 3))
    down = weights["down_proj"]
    assert same(tensors["w2_weight"][2], down[:, WIDE + WIDE // 2 :])
    assert same(tensors["w13_weight"][1][: WIDE // 2], weights["gate_proj"][WIDE // 2 : WIDE])


@pytest.mark.parametrize(("name", "rows", "columns"), list(itertools.product(NAMES, (128, 256), (256, 512))))
def test_layouts_are_those_of_the_formats(name: str, rows: int, columns: int) -> None:
    storage, lies = formats()[name].storage(rows, columns), layout(name)
    assert storage.payload_shape == (rows, columns // lies.packed)
    assert str(storage.payload_dtype) == f"torch.{lies.weight_type}"
    assert str(storage.scale_dtype) == f"torch.{lies.scale_type}"
    assert storage.scale_suffix == lies.scale
    assert storage.scale_shape == scale_shape(lies, rows, columns)


def scale_shape(lies: Layout, rows: int, columns: int) -> tuple[int, ...]:
    high, across = lies.block
    if high is None:
        return (1,)
    return (rows // high,) if across is None else (rows // high, columns // across)


def test_mxfp6_routed_experts_are_refused_by_name() -> None:
    class Mxfp6:
        name = "mxfp6_e2m3"

    geometry = Geometry(hidden=HIDDEN, intermediate=WIDE, routed=ROUTED)
    layer = FusedLayer(shared=PREFIX, tensors={}, geometry=geometry)
    with pytest.raises(InputError, match="routed experts are mxfp6_e2m3"):
        SharedExpertLoader([layer], Mxfp6())  # type: ignore[arg-type]
