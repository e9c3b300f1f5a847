"""What the headers of the checkpoint's files say against fusing, or against quantizing while loading."""

from collections.abc import Iterable, Iterator

from fse_core.read.model import Model
from fse_core.read.safetensors.facts import Tensor
from fse_core.read.safetensors.kinds import stored_layers
from fse_core.read.safetensors.layer import Expert, LayerTensors
from fse_core.report import Layer

FULL_PRECISION = ("BF16", "F16", "F32")
PACKED = ("U8", "I8")
Layers = tuple[tuple[Layer, LayerTensors], ...]


def layers(model: Model, wanted: Iterable[Layer]) -> Layers:
    """The layers as they are stored; none where the headers are not known."""
    if model.headers is None:
        return ()
    by_place = {(layer.part, layer.prefix): layer for layer in wanted}
    found = stored_layers(model.headers, by_place.values())
    return tuple((by_place[place], tensors) for place, tensors in found.items() if place in by_place)


def full_precision(stored: Layers) -> bool:
    """Whether every shared expert that was looked at is stored in full precision."""
    return all(tensor.dtype in FULL_PRECISION for _, tensors in stored for tensor in weights(tensors.shared))


def fp8_beside_fp4(stored: Layers) -> bool:
    """Whether, in every layer that was looked at, FP8 shared experts with scales stand beside packed routed ones."""
    return bool(stored) and all(
        tensors.usual is not None
        and all(tensor.dtype in PACKED for tensor in weights(tensors.usual))
        and all(tensor.dtype == "F8_E4M3" for tensor in weights(tensors.shared))
        and all("scale" in projection.parts for projection in tensors.shared.values())
        for _, tensors in stored
    )


def objections(stored: Layers, *, online: bool, lossy: bool = False) -> Iterator[str]:
    """Why the layers must not be fused.

    `online`: their shared experts are to be quantized while they load; `lossy`: from FP8.
    """
    for layer, tensors in stored:
        if tensors.usual is None or not tensors.shared:
            continue
        if not lossy:
            yield from _not_full(tensors.shared) if online else _unlike(tensors.usual, tensors.shared)
        yield from _scalars(tensors.shared)
        yield from _width(layer, tensors.usual, tensors.shared)


def weights(expert: Expert) -> Iterator[Tensor]:
    """The tensors of an expert's numbers."""
    yield from (projection.weight for projection in expert.values() if projection.weight is not None)


def _not_full(shared: Expert) -> Iterator[str]:
    for tensor in weights(shared):
        if tensor.dtype not in FULL_PRECISION:
            yield f"{tensor.name} is {tensor.dtype}, which is no full precision to quantize from"


def _unlike(routed: Expert, shared: Expert) -> Iterator[str]:
    types = {tensor.dtype for tensor in weights(routed)}
    for tensor in weights(shared):
        plain = tensor.dtype in FULL_PRECISION and types.issubset(FULL_PRECISION)
        if types and not plain and tensor.dtype not in types:
            yield f"{tensor.name} is {tensor.dtype}, and the routed experts' weights are {', '.join(sorted(types))}"


def _scalars(shared: Expert) -> Iterator[str]:
    for projection in shared.values():
        for leaf, tensor in projection.scales.items():
            if leaf.startswith("weight") and tensor.shape == ():
                yield f"{tensor.name} has no dimension, and the loader cannot cut it into slots: IndexError"


def _width(layer: Layer, routed: Expert, shared: Expert) -> Iterator[str]:
    """Gate projections have a row for each column of the slot, whatever their format."""
    gates = [expert["gate"].weight for expert in (routed, shared) if "gate" in expert]
    rows = [tensor.shape[0] for tensor in gates if tensor is not None and len(tensor.shape) == 2]
    if len(rows) == 2 and rows[1] != rows[0] * max(layer.slots, 1):
        yield f"the shared expert has {rows[1]} rows and its slots {rows[0] * max(layer.slots, 1)}"
